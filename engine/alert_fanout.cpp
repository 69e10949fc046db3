#include "engine/alert_fanout.h"

#include <fmt/core.h>

#include <set>

#include "scrape/target.h"

namespace vagt::engine {
namespace {

// The labels an alert leaves with; empty: relabelling dropped it.
Labels relabelled(const scrape::Relabeler& relabel, const Labels& labels) {
  LabelsBuilder builder(labels);
  return relabel.apply(builder) ? builder.build() : Labels();
}

// The URL of one discovered Alertmanager after relabelling, as Prometheus puts it together; "" when
// it is dropped.
Result<std::string> endpoint_url(const config::AlertmanagerTarget& section,
                                 const scrape::Relabeler& relabel,
                                 const std::map<std::string, std::string>& target,
                                 const std::map<std::string, std::string>& group) {
  LabelsBuilder labels;
  labels.set("__scheme__", section.scheme);
  std::string path = section.path_prefix;
  while (!path.empty() && path.back() == '/') path.pop_back();
  labels.set("__alerts_path__", fmt::format("{}/api/{}/alerts", path, section.api_version));
  for (const auto& [name, value] : group) labels.set(name, value);
  for (const auto& [name, value] : target) labels.set(name, value);
  if (!relabel.apply(labels)) return std::string();
  const std::string_view address = labels.get("__address__");
  if (address.empty()) return Status::invalid("an Alertmanager without address");
  if (address.find('/') != std::string_view::npos)
    return Status::invalid(fmt::format("{} is not a valid hostname", quote(address)));
  return fmt::format("{}://{}{}", labels.get("__scheme__"), address, labels.get("__alerts_path__"));
}

Status add_endpoints(const config::AlertmanagerTarget& section, AlertFanout::Settings& settings) {
  VAGT_TRY(const scrape::Relabeler relabel, scrape::Relabeler::compile(section.relabel));
  VAGT_TRY(scrape::Relabeler compiled, scrape::Relabeler::compile(section.alert_relabel));
  const auto alert_relabel = std::make_shared<const scrape::Relabeler>(std::move(compiled));
  const auto profile = std::make_shared<const net::HttpClientConfig>(section.http);
  std::set<std::string> urls;
  for (const scrape::TargetGroup& group : section.discovery.static_groups) {
    for (const auto& target : group.targets) {
      VAGT_TRY(std::string url, endpoint_url(section, relabel, target, group.labels));
      if (url.empty() || !urls.insert(url).second) continue;
      notify::ExternalAlertmanagers::Endpoint endpoint{std::move(url), profile, section.timeout,
                                                       nullptr};
      if (!alert_relabel->empty()) {
        endpoint.relabel = [alert_relabel](const Labels& labels) {
          return relabelled(*alert_relabel, labels);
        };
      }
      settings.endpoints.push_back(std::move(endpoint));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const AlertFanout::Settings>> AlertFanout::prepare(
    const config::PrometheusConfig& config) {
  Settings settings;
  VAGT_TRY(settings.relabel, scrape::Relabeler::compile(config.alerting.alert_relabel));
  for (const config::AlertmanagerTarget& section : config.alerting.alertmanagers)
    VAGT_CHECK_OK(add_endpoints(section, settings).at("alerting"));
  return std::make_shared<const Settings>(std::move(settings));
}

size_t AlertFanout::external_count(const Settings& settings) { return settings.endpoints.size(); }

void AlertFanout::apply(std::shared_ptr<const Settings> settings, AlertSink* builtin) {
  external_.set_endpoints(settings->endpoints, nullptr);
  base::MutexLock lock(mutex_);
  settings_ = std::move(settings);
  builtin_ = builtin;
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
  if (!settings->endpoints.empty()) external_.publish(outgoing);
}

}  // namespace vagt::engine
