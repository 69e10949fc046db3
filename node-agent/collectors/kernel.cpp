// Taint flags and tasks that the kernel found hanging.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class KernelCollector final : public Collector {
 public:
  explicit KernelCollector(const Sources& sources)
      : tainted_(sources.proc("sys/kernel/tainted")),
        hung_(sources.proc("sys/kernel/hung_task_detect_count")) {}
  std::string_view name() const override { return "kernel"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (const auto taint = tainted_.number())
      sink.gauge("vagt_kernel_taint",
                 "Taint bits: 16 machine check, 512 warning, 4096 out-of-tree module.")
          .add(*taint);
    // Linux 6.13 and later. Dashboards ask for the second name.
    if (const auto hung = hung_.number()) {
      sink.counter("node_kernel_hung_tasks_total",
                   "Total number of tasks that have been detected as hung since the system boot.")
          .add(*hung);
      sink.gauge("node_kernel_hung_tasks",
                 "Number of tasks that have been detected as hung since the system boot.")
          .add(*hung);
    }
    return {};
  }

 private:
  KeptFile tainted_, hung_;
};

}  // namespace

CollectorPtr make_kernel(const Sources& sources, const Filters&) {
  return std::make_unique<KernelCollector>(sources);
}

}  // namespace vagt::agent
