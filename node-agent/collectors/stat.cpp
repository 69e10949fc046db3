// Boot time, forks, interrupts, context switches and process counts from /proc/stat.
#include <array>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

struct Field {
  std::string_view key, name, type, help;
};
constexpr std::array<Field, 6> kStatFields = {{
    {"intr", "node_intr_total", "counter", "Total number of interrupts serviced."},
    {"ctxt", "node_context_switches_total", "counter", "Total number of context switches."},
    {"btime", "node_boot_time_seconds", "gauge", "Node boot time, in unixtime."},
    {"processes", "node_forks_total", "counter", "Total number of forks."},
    {"procs_running", "node_procs_running", "gauge", "Number of processes in runnable state."},
    {"procs_blocked", "node_procs_blocked", "gauge",
     "Number of processes blocked waiting for I/O to complete."},
}};

class StatCollector final : public Collector {
 public:
  explicit StatCollector(const Sources& sources) : file_(sources.proc("stat")) {}
  std::string_view name() const override { return "stat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const std::string_view key = next_word(line);
      for (const Field& field : kStatFields)
        if (key == field.key)
          if (const auto number = to_number(next_word(line)))
            sink.family(field.name, field.type, field.help).add(*number);
    }
    return {};
  }

 private:
  KeptFile file_;
  std::string text_;
};

}  // namespace

CollectorPtr make_stat(const Sources& sources, const Filters&) {
  return std::make_unique<StatCollector>(sources);
}

}  // namespace vagt::agent
