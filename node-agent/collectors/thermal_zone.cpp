// Thermal zones and cooling devices.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class ThermalZoneCollector final : public Collector {
 public:
  explicit ThermalZoneCollector(const Sources& sources)
      : directory_(sources.sys("class/thermal")) {}
  std::string_view name() const override { return "thermal_zone"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto entries = list_directory(directory_);
    if (entries.empty()) return Status::not_found("no thermal class");
    for (const std::string& entry : entries) {
      const std::string path = directory_ + '/' + entry;
      const std::string type = read_line(path + "/type").value_or(std::string());
      if (entry.compare(0, 12, "thermal_zone") == 0) {
        if (const auto temperature = read_number(path + "/temp"))
          sink.gauge("node_thermal_zone_temp", "Zone temperature in Celsius")
              .add({{"type", type}, {"zone", entry.substr(12)}}, *temperature / 1000);
      } else if (entry.compare(0, 14, "cooling_device") == 0) {
        add_cooling(sink, path, entry.substr(14), type);
      }
    }
    return {};
  }

 private:
  static void add_cooling(MetricSink& sink, const std::string& path, const std::string& number,
                          const std::string& type) {
    const LabelView labels[] = {{"name", number}, {"type", type}};
    if (const auto current = read_number(path + "/cur_state"))
      sink.gauge("node_cooling_device_cur_state", "Current throttle state of the cooling device")
          .add(labels, *current);
    if (const auto maximum = read_number(path + "/max_state"))
      sink.gauge("node_cooling_device_max_state", "Maximum throttle state of the cooling device")
          .add(labels, *maximum);
  }

  const std::string directory_;
};

}  // namespace

CollectorPtr make_thermal_zone(const Sources& sources, const Filters&) {
  return std::make_unique<ThermalZoneCollector>(sources);
}

}  // namespace vagt::agent
