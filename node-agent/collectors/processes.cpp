// Processes and threads by state. Walks /proc: off by default.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class ProcessesCollector final : public Collector {
 public:
  explicit ProcessesCollector(const Sources& sources) : proc_(sources.procfs) {}
  std::string_view name() const override { return "processes"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    double pids = 0, threads = 0;
    std::map<std::string, double> states;
    for (const std::string& entry : list_directory(proc_)) {
      if (!to_uint(entry)) continue;
      if (stop.stop_requested()) return Status(Code::Cancelled, "stopped");
      // A process may end between the listing and the reading.
      if (!read_file(proc_ + '/' + entry + "/stat", text_).ok()) continue;
      const size_t end_of_name = text_.rfind(')');
      if (end_of_name == std::string::npos) continue;
      std::string_view rest = std::string_view(text_).substr(end_of_name + 1);
      const std::string state(next_word(rest));
      for (int skip = 4; skip < 20; ++skip) next_word(rest);
      ++pids;
      threads += to_number(next_word(rest)).value_or(0);  // field 20 of proc(5)
      ++states[state];
    }
    sink.gauge("node_processes_pids", "Number of PIDs").add(pids);
    sink.gauge("node_processes_threads", "Allocated threads in system").add(threads);
    for (const auto& [state, count] : states)
      sink.gauge("node_processes_state", "Number of processes in each state.")
          .add({{"state", state}}, count);
    if (const auto n = read_number(proc_ + "/sys/kernel/pid_max"))
      sink.gauge("node_processes_max_processes", "Number of max PIDs limit").add(*n);
    if (const auto n = read_number(proc_ + "/sys/kernel/threads-max"))
      sink.gauge("node_processes_max_threads", "Limit of threads in the system").add(*n);
    return {};
  }

 private:
  const std::string proc_;
  std::string text_;
};

}  // namespace

CollectorPtr make_processes(const Sources& sources, const Filters&) {
  return std::make_unique<ProcessesCollector>(sources);
}

}  // namespace vagt::agent
