#include "engine/alert_fanout.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "scrape/target.h"

namespace vagt::engine {
namespace {

// The labels an alert leaves with; empty: relabelling dropped it.
Labels relabelled(const scrape::Relabeler& relabel, const Labels& labels) {
  LabelsBuilder builder(labels);
  return relabel.apply(builder) ? builder.build() : Labels();
}

using Endpoint = notify::ExternalAlertmanagers::Endpoint;
using Section = AlertFanout::Settings::Section;

// The URL of one discovered Alertmanager after relabelling, as Prometheus puts it together; "" when
// it is dropped.
Result<std::string> endpoint_url(const Section& section,
                                 const std::map<std::string, std::string>& target,
                                 const std::map<std::string, std::string>& group) {
  LabelsBuilder labels;
  labels.set("__scheme__", section.config.scheme);
  std::string path = section.config.path_prefix;
  while (!path.empty() && path.back() == '/') path.pop_back();
  labels.set("__alerts_path__", fmt::format("{}/api/{}/alerts", path, section.config.api_version));
  for (const auto& [name, value] : group) labels.set(name, value);
  for (const auto& [name, value] : target) labels.set(name, value);
  if (!section.relabel.apply(labels)) return std::string();
  const std::string_view address = labels.get("__address__");
  if (address.empty()) return Status::invalid("an Alertmanager without address");
  if (address.find('/') != std::string_view::npos)
    return Status::invalid(fmt::format("{} is not a valid hostname", quote(address)));
  return fmt::format("{}://{}{}", labels.get("__scheme__"), address, labels.get("__alerts_path__"));
}

// Adds the endpoints of `groups`; the first fault among them is returned, the others are there.
Status add_endpoints(const Section& section, const scrape::TargetGroups& groups,
                     std::vector<Endpoint>& out) {
  Status fault;
  std::set<std::string> urls;
  for (const scrape::TargetGroup& group : groups) {
    for (const auto& target : group.targets) {
      auto url = endpoint_url(section, target, group.labels);
      if (!url && fault.ok()) fault = url.error();
      if (!url || url->empty() || !urls.insert(*url).second) continue;
      Endpoint endpoint{std::move(*url), section.profile, section.config.timeout, nullptr};
      if (!section.alert_relabel->empty()) {
        endpoint.relabel = [relabel = section.alert_relabel](const Labels& labels) {
          return relabelled(*relabel, labels);
        };
      }
      out.push_back(std::move(endpoint));
    }
  }
  return fault;
}

bool is_discovered(const scrape::DiscoveryConfig& discovery) {
  return !discovery.files.empty() || !discovery.http.empty() || !discovery.dns.empty() ||
         !discovery.docker.empty() || !discovery.consul.empty() || !discovery.kubernetes.empty();
}

}  // namespace

AlertFanout::AlertFanout(Options options, notify::ExternalAlertmanagers& external,
                         base::Registry& registry)
    : options_(std::move(options)),
      external_(external),
      directory_({options_.user_agent, "notify", [this] { find_endpoints(); }, options_.planner},
                 registry, options_.log) {}

Result<std::shared_ptr<const AlertFanout::Settings>> AlertFanout::prepare(
    const config::PrometheusConfig& config) {
  Settings settings;
  VAGT_TRY(settings.relabel, scrape::Relabeler::compile(config.alerting.alert_relabel));
  for (const config::AlertmanagerTarget& target : config.alerting.alertmanagers) {
    Section section;
    section.config = target;
    VAGT_TRY(section.relabel, scrape::Relabeler::compile(target.relabel));
    VAGT_TRY(scrape::Relabeler alert_relabel, scrape::Relabeler::compile(target.alert_relabel));
    section.alert_relabel = std::make_shared<const scrape::Relabeler>(std::move(alert_relabel));
    section.profile = std::make_shared<const net::HttpClientConfig>(target.http);
    std::vector<Endpoint> written;
    VAGT_CHECK_OK(add_endpoints(section, target.discovery.static_groups, written).at("alerting"));
    settings.sections.push_back(std::move(section));
  }
  return std::make_shared<const Settings>(std::move(settings));
}

bool AlertFanout::has_discovery(const Settings& settings) {
  return std::any_of(settings.sections.begin(), settings.sections.end(),
                     [](const Section& s) { return is_discovered(s.config.discovery); });
}

void AlertFanout::apply(std::shared_ptr<const Settings> settings, AlertSink* builtin) {
  std::vector<const scrape::DiscoveryConfig*> discovery;
  for (const Section& section : settings->sections) discovery.push_back(&section.config.discovery);
  {
    base::MutexLock lock(mutex_);
    settings_ = settings;
    builtin_ = builtin;
  }
  directory_.apply(discovery);
  find_endpoints();
}

void AlertFanout::find_endpoints() {
  base::MutexLock turn(finding_);
  std::shared_ptr<const Settings> settings;
  {
    base::MutexLock lock(mutex_);
    settings = settings_;
  }
  if (settings == nullptr) return;
  std::vector<Endpoint> endpoints;
  for (const Section& section : settings->sections) {
    const auto found = directory_.found(section.config.discovery);
    const Status fault = add_endpoints(section, found.groups, endpoints);
    if (!fault.ok()) options_.log.warn("no Alertmanager", {{"err", fault.message()}});
  }
  const size_t count = endpoints.size();
  external_.set_endpoints(std::move(endpoints), nullptr);
  if (count != last_count_ && has_discovery(*settings))
    options_.log.info("Alertmanagers found", {{"count", count}});
  last_count_ = count;
  if (options_.counted) options_.counted(count);
}

void AlertFanout::publish(std::span<const Alert> alerts) {
  std::shared_ptr<const Settings> settings;
  AlertSink* builtin = nullptr;
  {
    base::MutexLock lock(mutex_);
    settings = settings_;
    builtin = builtin_;
  }
  if (settings == nullptr) return;  // before the first configuration
  std::vector<Alert> outgoing;
  outgoing.reserve(alerts.size());
  for (const Alert& alert : alerts) {
    Labels labels = relabelled(settings->relabel, alert.labels);
    if (labels.empty()) continue;
    outgoing.push_back(alert);
    outgoing.back().labels = std::move(labels);
  }
  if (outgoing.empty()) return;
  if (builtin != nullptr) builtin->publish(outgoing);
  external_.publish(outgoing);
}

}  // namespace vagt::engine
