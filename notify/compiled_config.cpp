#include "notify/dispatcher.h"

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

}  // namespace vagt::notify
