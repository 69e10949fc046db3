#include "notify/compiled_config.h"

#include <algorithm>

#include "notify/renderer.h"

namespace vagt::notify {

Result<std::shared_ptr<const CompiledConfig>> CompiledConfig::compile(Config config) {
  auto out = std::make_shared<CompiledConfig>();
  VAGT_TRY(out->templates, TemplateLibrary::load(config.templates));
  out->root = Route::build(config.route);
  for (const NamedTimeInterval& interval : config.time_intervals) {
    out->intervals[interval.name] = interval;
  }
  for (const ReceiverConfig& receiver : config.receivers) {
    Receiver& made = out->receivers[receiver.name];
    made.name = receiver.name;
    made.labels = receiver.labels;
    made.labels["name"] = receiver.name;
    std::map<std::string, size_t> positions;
    for (const IntegrationConfig& integration : receiver.integrations) {
      Receiver::Integration& one = made.integrations.emplace_back();
      one.name = integration_name(integration);
      one.position = positions[one.name]++;
      one.send_resolved = sends_resolved(integration);
      one.notifier = make_notifier(integration);
    }
  }
  out->config = std::move(config);
  return std::shared_ptr<const CompiledConfig>(std::move(out));
}

bool muted_by_time(const CompiledConfig& config, const RouteOptions& options, Timestamp now,
                   std::vector<std::string>* names) {
  const auto holds = [&](const std::string& name) {
    const auto it = config.intervals.find(name);
    return it != config.intervals.end() && it->second.contains(now);
  };
  const auto& active = options.active_time_intervals;
  if (!active.empty() && std::none_of(active.begin(), active.end(), holds)) {
    if (names != nullptr) *names = active;
    return true;
  }
  bool muted = false;
  for (const std::string& name : options.mute_time_intervals) {
    if (!holds(name)) continue;
    muted = true;
    if (names != nullptr) names->push_back(name);
  }
  return muted;
}

Notification group_notification(const CompiledConfig& config, const Route& route,
                                const Labels& labels, const std::string& key,
                                const std::vector<AlertPtr>& alerts,
                                const std::string& external_url, Timestamp now) {
  Notification n;
  n.receiver = route.options().receiver;
  n.group_key = key;
  n.group_labels = labels;
  n.external_url = external_url;
  n.now = now;
  for (const AlertPtr& alert : alerts) n.alerts.push_back({alert, !alert->resolved(now)});
  n.route_labels = render_route_labels(*config.templates, n, route.options().labels);
  return n;
}

}  // namespace vagt::notify
