// CPU clock frequencies, read at most once a minute: a reading can interrupt the CPU.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class CpufreqCollector final : public Collector {
 public:
  CpufreqCollector(const Sources& sources, size_t max_cpus)
      : directory_(sources.sys("devices/system/cpu")), max_cpus_(max_cpus) {}
  std::string_view name() const override { return "cpufreq"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    std::vector<std::string> cpus;
    for (const std::string& entry : list_directory(directory_))
      if (entry.compare(0, 3, "cpu") == 0 && to_uint(entry.substr(3))) cpus.push_back(entry);
    if (cpus.size() > max_cpus_) return Status::not_found("switched off above the CPU limit");
    for (const std::string& cpu : cpus) {
      const std::string path = directory_ + '/' + cpu + "/cpufreq";
      const std::string number = cpu.substr(3);
      add(sink, path + "/scaling_cur_freq", "node_cpu_scaling_frequency_hertz",
          "Current scaled CPU thread frequency in hertz.", number);
      add(sink, path + "/scaling_max_freq", "node_cpu_scaling_frequency_max_hertz",
          "Maximum scaled CPU thread frequency in hertz.", number);
      add(sink, path + "/scaling_min_freq", "node_cpu_scaling_frequency_min_hertz",
          "Minimum scaled CPU thread frequency in hertz.", number);
    }
    return {};
  }

 private:
  static void add(MetricSink& sink, const std::string& path, std::string_view name,
                  std::string_view help, const std::string& cpu) {
    if (const auto kilohertz = read_number(path))
      sink.gauge(name, help).add({{"cpu", cpu}}, *kilohertz * 1000);
  }

  const std::string directory_;
  const size_t max_cpus_;
};

}  // namespace

CollectorPtr make_cpufreq(const Sources& sources, const Filters& filters) {
  return std::make_unique<CpufreqCollector>(sources, filters.per_cpu_max);
}

}  // namespace vagt::agent
