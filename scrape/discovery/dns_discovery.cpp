#include "scrape/discovery/dns_discovery.h"

#include <fmt/core.h>

#include "scrape/discovery/dns_lookup.h"

namespace vagt::scrape {
namespace {

DnsType type_of(const std::string& name) {
  if (name == "A") return DnsType::A;
  if (name == "AAAA") return DnsType::AAAA;
  if (name == "MX") return DnsType::MX;
  if (name == "NS") return DnsType::NS;
  return DnsType::SRV;
}

std::string without_final_dot(const std::string& name) {
  return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

class DnsDiscovery final : public RefreshSource {
 public:
  DnsDiscovery(DnsDiscoveryConfig config, DnsDiscoveryOptions options, base::Registry& registry)
      : config_(std::move(config)),
        options_(std::move(options)),
        type_(type_of(config_.type)),
        lookups_(registry.counter("prometheus_sd_dns_lookups_total", "DNS-SD lookups.")),
        failures_(registry.counter("prometheus_sd_dns_lookup_failures_total",
                                   "DNS-SD lookups that failed.")) {}
  std::string_view kind() const override { return "dns"; }

 protected:
  Duration refresh_interval() const override { return config_.refresh_interval; }

  void refresh(std::stop_token stop, DiscoverySink& sink) override {
    auto servers = read_resolv_conf(options_.resolv_conf);
    if (!servers) {
      failures_.add(static_cast<double>(config_.names.size()));
      sink.publish(std::nullopt, servers.error());
      return;
    }
    servers->port = options_.port;
    Status status;
    for (const std::string& name : config_.names) {
      const auto records = lookup_dns(*servers, name, type_, stop);
      if (stop.stop_requested()) return;
      lookups_.add();
      if (records) {
        groups_[name] = group_of(name, *records);
      } else {
        failures_.add();
        if (status.ok()) status = records.error();
      }
    }
    // A name that does not resolve now keeps what it had.
    TargetGroups groups;
    for (const auto& [name, group] : groups_) groups.push_back(group);
    sink.publish(std::move(groups), status);
  }

 private:
  TargetGroup group_of(const std::string& name, const std::vector<DnsRecord>& records) const {
    TargetGroup group;
    group.source = fmt::format("dns/{}/{}", config_.type, name);
    for (const DnsRecord& record : records) {
      if (record.type != type_) continue;  // the way there: CNAME
      const uint16_t port = type_ == DnsType::SRV ? record.port : config_.port;
      std::map<std::string, std::string> labels = {
          {"__address__", join_host_port(without_final_dot(record.target), port)},
          {"__meta_dns_name", name}};
      if (type_ == DnsType::SRV) {
        labels["__meta_dns_srv_record_target"] = record.target;
        labels["__meta_dns_srv_record_port"] = fmt::format("{}", record.port);
      }
      if (type_ == DnsType::MX) labels["__meta_dns_mx_record_target"] = record.target;
      if (type_ == DnsType::NS) labels["__meta_dns_ns_record_target"] = record.target;
      group.targets.push_back(std::move(labels));
    }
    std::sort(group.targets.begin(), group.targets.end());  // servers rotate them
    return group;
  }

  const DnsDiscoveryConfig config_;
  const DnsDiscoveryOptions options_;
  const DnsType type_;
  base::Counter &lookups_, &failures_;
  std::map<std::string, TargetGroup> groups_;  // by name
};

}  // namespace

std::unique_ptr<DiscoverySource> make_dns_discovery(DnsDiscoveryConfig config,
                                                    DnsDiscoveryOptions options,
                                                    base::Registry& registry) {
  return std::make_unique<DnsDiscovery>(std::move(config), std::move(options), registry);
}

}  // namespace vagt::scrape
