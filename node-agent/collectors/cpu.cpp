// node_cpu_seconds_total and the throttle counters of Intel's cores.
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

constexpr std::array<std::string_view, 8> kModes = {"user",   "nice", "system",  "idle",
                                                    "iowait", "irq",  "softirq", "steal"};
constexpr size_t kFields = 10;  // and guest, guest_nice

class CpuCollector final : public Collector {
 public:
  CpuCollector(const Sources& sources, bool guest)
      : stat_(sources.proc("stat")),
        cpu_directory_(sources.sys("devices/system/cpu")),
        guest_(guest) {}
  std::string_view name() const override { return "cpu"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(stat_.read(text_));
    Family& seconds =
        sink.counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.");
    Family& guests = sink.counter("node_cpu_guest_seconds_total",
                                  "Seconds the CPUs spent in guests (VMs) for each mode.");
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      if (line.substr(0, 3) != "cpu" || line.size() < 4 || line[3] == ' ') continue;
      const std::string_view cpu = next_word(line).substr(3);
      const auto& ticks = advance(std::string(cpu), line);
      for (size_t i = 0; i < kModes.size(); ++i)
        seconds.add({{"cpu", cpu}, {"mode", kModes[i]}}, ticks[i] / ticks_per_second_);
      if (!guest_) continue;
      guests.add({{"cpu", cpu}, {"mode", "user"}}, ticks[8] / ticks_per_second_);
      guests.add({{"cpu", cpu}, {"mode", "nice"}}, ticks[9] / ticks_per_second_);
    }
    collect_throttles(sink);
    return {};
  }

 private:
  using Ticks = std::array<double, kFields>;

  // The kernel lets idle and iowait step back a little (hotplug, accounting races). A counter must
  // not; a drop of more than 3 s is a real reset.
  const Ticks& advance(const std::string& cpu, std::string_view fields) {
    Ticks& kept = seen_[cpu];
    for (double& value : kept) {
      const double now = to_number(next_word(fields)).value_or(0);
      if (now > value || value - now > 3 * ticks_per_second_) value = now;
    }
    return kept;
  }

  // One series per physical core and package, not per thread.
  void collect_throttles(MetricSink& sink) {
    if (has_throttles_ && !*has_throttles_) return;
    std::set<std::pair<std::string, std::string>> cores;
    std::set<std::string> packages;
    for (const std::string& entry : list_directory(cpu_directory_)) {
      if (entry.size() < 4 || entry.compare(0, 3, "cpu") != 0 || !to_uint(entry.substr(3)))
        continue;
      const std::string cpu = cpu_directory_ + '/' + entry;
      const auto core_count = read_number(cpu + "/thermal_throttle/core_throttle_count");
      const auto package_count = read_number(cpu + "/thermal_throttle/package_throttle_count");
      if (!core_count && !package_count) continue;
      const auto package = read_line(cpu + "/topology/physical_package_id");
      const auto core = read_line(cpu + "/topology/core_id");
      if (!package) continue;
      if (core && core_count && cores.emplace(*package, *core).second)
        sink.counter("node_cpu_core_throttles_total",
                     "Number of times this CPU core has been throttled.")
            .add({{"core", *core}, {"package", *package}}, *core_count);
      if (package_count && packages.insert(*package).second)
        sink.counter("node_cpu_package_throttles_total",
                     "Number of times this CPU package has been throttled.")
            .add({{"package", *package}}, *package_count);
    }
    has_throttles_ = !packages.empty();
  }

  KeptFile stat_;
  const std::string cpu_directory_;
  const bool guest_;
  const double ticks_per_second_ = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::string text_;
  std::map<std::string, Ticks> seen_;
  std::optional<bool> has_throttles_;  // looked for once: AMD and VMs have none
};

}  // namespace

CollectorPtr make_cpu(const Sources& sources, const Filters& filters) {
  return std::make_unique<CpuCollector>(sources, filters.cpu_guest);
}

}  // namespace vagt::agent
