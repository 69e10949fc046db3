// Whether the GPU driver survives the next reboot.
#include "node-agent/collectors/collectors.h"
#include "node-agent/reboot/readiness.h"

namespace vagt::agent {
namespace {

class DriverReadinessCollector final : public Collector {
 public:
  explicit DriverReadinessCollector(const Sources& sources) : sources_(sources) {}
  std::string_view name() const override { return "driver_readiness"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const Readiness readiness = check_readiness(sources_);
    for (const ReadinessCheck& check : readiness.checks)
      sink.gauge("vagt_reboot_readiness",
                 "Whether the GPU driver survives a reboot, by check: 1 ok, 0 not.")
          .add({{"check", check.name}}, check.ok ? 1 : 0);
    if (!readiness.newest.empty()) {
      sink.gauge("vagt_kernel_newest_installed_info",
                 "Newest kernel that is installed; the value is 1.")
          .add({{"release", readiness.newest}}, 1);
      Family& required = sink.gauge("vagt_kernel_reboot_required", "1: a reboot is due.");
      required.add({{"reason", "flag"}}, readiness.flag_required ? 1 : 0);
      required.add({{"reason", "kernel"}}, readiness.newest != readiness.running ? 1 : 0);
    }
    sink.gauge("vagt_nouveau_loaded", "1: the nouveau driver is loaded.")
        .add(readiness.nouveau_loaded ? 1 : 0);
    const auto gauge = [&](std::string_view name, std::string_view help,
                           std::optional<bool> value) {
      if (value) sink.gauge(name, help).add(*value ? 1 : 0);
    };
    gauge("vagt_secure_boot", "1: Secure Boot is on.", readiness.secure_boot);
    gauge("vagt_nvidia_persistenced_up", "1: nvidia-persistenced runs.", readiness.persistenced_up);
    gauge("vagt_nvidia_fabricmanager_up", "1: nvidia-fabricmanager runs.",
          readiness.fabricmanager_up);
    for (const InstalledModule& module : readiness.modules)
      sink.gauge("vagt_nvidia_module_info", "Driver module of a kernel; the value is 1.")
          .add({{"kernel_release", module.kernel},
                {"loaded", module.loaded ? "true" : "false"},
                {"signed", !module.is_signed   ? ""
                           : *module.is_signed ? "true"
                                               : "false"},
                {"version", module.version}},
               1);
    return {};
  }

 private:
  const Sources sources_;
};

}  // namespace

CollectorPtr make_driver_readiness(const Sources& sources, const Filters&) {
  return std::make_unique<DriverReadinessCollector>(sources);
}

}  // namespace vagt::agent
