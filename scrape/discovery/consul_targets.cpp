// From Consul's health entries to targets.
#include <fmt/core.h>

#include "scrape/discovery/consul_discovery.h"
#include "scrape/discovery/json_fields.h"

namespace vagt::scrape {
namespace {

using boost::json::value;

// The worst of an instance's checks, maintenance before all.
std::string health_of(const value& entry) {
  int worst = 0;
  static constexpr std::string_view kNames[] = {"passing", "warning", "critical", "maintenance"};
  for (const value& check : json_list(entry, "Checks")) {
    const std::string id = json_text(check, "CheckID"), status = json_text(check, "Status");
    int severity = 0;
    if (id == "_node_maintenance" || id.starts_with("_service_maintenance:")) {
      severity = 3;
    } else if (status == "critical" || status == "maintenance") {
      severity = status == "critical" ? 2 : 3;
    } else if (status == "warning") {
      severity = 1;
    } else if (status != "passing") {
      return "";
    }
    worst = std::max(worst, severity);
  }
  return std::string(kNames[worst]);
}

// The separator at both ends too, so that a rule's regex need not care for positions.
std::string joined_tags(const value& entry, const std::string& separator) {
  std::string out = separator;
  const auto& tags = json_list(entry, "Service.Tags");
  for (size_t i = 0; i < tags.size(); ++i) {
    if (i != 0) out += separator;
    out += json_text(tags[i], "");
  }
  return out + separator;
}

void add_each(TextMap& labels, const std::string& prefix, const TextMap& members) {
  for (const auto& [name, text] : members) labels[prefix + sanitize_label_name(name)] = text;
}

}  // namespace

Result<TargetGroup> consul_targets(const ConsulDiscoveryConfig& config,
                                   const std::string& datacenter, const std::string& service,
                                   std::string_view answer) {
  VAGT_TRY(const value entries, parse_json(answer));
  if (!entries.is_array()) return Status(Code::Corruption, "Consul's answer is no list");
  TargetGroup group;
  group.source = "consul/" + service;
  group.labels = {{"__meta_consul_service", service}, {"__meta_consul_dc", datacenter}};
  for (const value& entry : entries.as_array()) {
    const std::string node_address = json_text(entry, "Node.Address");
    const std::string service_address = json_text(entry, "Service.Address");
    const auto port = json_port(entry, "Service.Port");
    TextMap labels = {
        // A service may be registered through a node it does not run on.
        {"__address__",
         join_host_port(service_address.empty() ? node_address : service_address, port)},
        {"__meta_consul_address", node_address},
        {"__meta_consul_node", json_text(entry, "Node.Node")},
        {"__meta_consul_namespace", json_text(entry, "Service.Namespace")},
        {"__meta_consul_partition", json_text(entry, "Service.Partition")},
        {"__meta_consul_tags", joined_tags(entry, config.tag_separator)},
        {"__meta_consul_service_address", service_address},
        {"__meta_consul_service_port", fmt::format("{}", port)},
        {"__meta_consul_service_id", json_text(entry, "Service.ID")},
        {"__meta_consul_health", health_of(entry)}};
    add_each(labels, "__meta_consul_metadata_", json_texts(entry, "Node.Meta"));
    add_each(labels, "__meta_consul_service_metadata_", json_texts(entry, "Service.Meta"));
    add_each(labels, "__meta_consul_tagged_address_", json_texts(entry, "Node.TaggedAddresses"));
    group.targets.push_back(std::move(labels));
  }
  return group;
}

}  // namespace vagt::scrape
