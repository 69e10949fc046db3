// The wall clock, read when the page is made, and the kernel's clock sources.
#include <ctime>
#include <vector>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class TimeCollector final : public Collector {
 public:
  explicit TimeCollector(const Sources& sources)
      : directory_(sources.sys("devices/system/clocksource")), clock_(*sources.clock) {}
  std::string_view name() const override { return "time"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const Timestamp now = clock_.now();
    sink.gauge("node_time_seconds", "System time in seconds since epoch (1970).")
        .add(to_seconds(now));
    const time_t seconds = to_millis(now) / 1000;
    tm local{};
    localtime_r(&seconds, &local);
    sink.gauge("node_time_zone_offset_seconds", "System time zone offset in seconds.")
        .add({{"time_zone", local.tm_zone == nullptr ? "UTC" : local.tm_zone}},
             static_cast<double>(local.tm_gmtoff));
    find_sources();
    for (Source& source : sources_) collect_source(sink, source);
    return {};
  }

 private:
  struct Source {
    std::string number;
    KeptFile available, current;
  };

  // Looked for once: the devices are made at boot.
  void find_sources() {
    if (searched_) return;
    searched_ = true;
    for (const std::string& device : list_directory(directory_)) {
      if (device.compare(0, 11, "clocksource") != 0) continue;
      const std::string path = directory_ + '/' + device;
      sources_.push_back({device.substr(11), KeptFile(path + "/available_clocksource"),
                          KeptFile(path + "/current_clocksource")});
    }
  }

  void collect_source(MetricSink& sink, Source& source) {
    const std::string& number = source.number;
    if (const auto available = source.available.line(text_)) {
      std::string_view rest = *available;
      Family& family =
          sink.gauge("node_time_clocksource_available_info",
                     "Available clocksources read from '/sys/devices/system/clocksource'.");
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest))
        family.add({{"clocksource", word}, {"device", number}}, 1);
    }
    if (const auto current = source.current.line(text_))
      sink.gauge("node_time_clocksource_current_info",
                 "Current clocksource read from '/sys/devices/system/clocksource'.")
          .add({{"clocksource", *current}, {"device", number}}, 1);
  }

  const std::string directory_;
  const Clock& clock_;
  std::vector<Source> sources_;
  std::string text_;
  bool searched_ = false;
};

}  // namespace

CollectorPtr make_time(const Sources& sources, const Filters&) {
  return std::make_unique<TimeCollector>(sources);
}

}  // namespace vagt::agent
