// Known faults of the CPU and what the kernel does about them. Off by default.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class VulnerabilitiesCollector final : public Collector {
 public:
  explicit VulnerabilitiesCollector(const Sources& sources)
      : directory_(sources.sys("devices/system/cpu/vulnerabilities")) {}
  std::string_view name() const override { return "cpu_vulnerabilities"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto names = list_directory(directory_);
    if (names.empty()) return Status::not_found("the kernel lists no vulnerabilities");
    Family& family = sink.gauge("node_cpu_vulnerabilities_info",
                                "Details of each CPU vulnerability reported by sysfs. The value of "
                                "the series is an int encoded state of the vulnerability.");
    for (const std::string& codename : names) {
      const auto text = read_line(directory_ + '/' + codename);
      if (!text) continue;
      // "Not affected", "Vulnerable[: why]", "Mitigation: what"
      std::string state = "vulnerable", mitigation;
      if (text->compare(0, 12, "Not affected") == 0) state = "not affected";
      if (text->compare(0, 11, "Mitigation:") == 0) {
        state = "mitigation";
        mitigation = trim(std::string_view(*text).substr(11));
      }
      family.add({{"codename", codename}, {"mitigation", mitigation}, {"state", state}}, 1);
    }
    return {};
  }

 private:
  const std::string directory_;
};

}  // namespace

CollectorPtr make_vulnerabilities(const Sources& sources, const Filters&) {
  return std::make_unique<VulnerabilitiesCollector>(sources);
}

}  // namespace vagt::agent
