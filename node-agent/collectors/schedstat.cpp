// Time each CPU ran tasks and kept them waiting.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class SchedstatCollector final : public Collector {
 public:
  SchedstatCollector(const Sources& sources, size_t per_cpu_max)
      : file_(sources.proc("schedstat")), per_cpu_max_(per_cpu_max) {}
  std::string_view name() const override { return "schedstat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    Family& running = sink.counter("node_schedstat_running_seconds_total",
                                   "Number of seconds CPU spent running a process.");
    Family& waiting = sink.counter("node_schedstat_waiting_seconds_total",
                                   "Number of seconds spent by processing waiting for this CPU.");
    Family& slices =
        sink.counter("node_schedstat_timeslices_total", "Number of timeslices executed by CPU.");
    struct Row {
      std::string_view cpu;
      double running, waiting, slices;
    };
    std::vector<Row> rows;
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      if (line.substr(0, 3) != "cpu") continue;
      const std::string_view cpu = next_word(line).substr(3);
      for (int skip = 0; skip < 6; ++skip) next_word(line);
      const auto ran = to_number(next_word(line)), waited = to_number(next_word(line)),
                 count = to_number(next_word(line));
      if (ran && waited && count) rows.push_back({cpu, *ran / 1e9, *waited / 1e9, *count});
    }
    if (rows.size() > per_cpu_max_) {  // one series for all: a host may have 384 threads
      Row sum{"all", 0, 0, 0};
      for (const Row& row : rows)
        sum.running += row.running, sum.waiting += row.waiting, sum.slices += row.slices;
      rows = {sum};
    }
    for (const Row& row : rows) {
      running.add({{"cpu", row.cpu}}, row.running);
      waiting.add({{"cpu", row.cpu}}, row.waiting);
      slices.add({{"cpu", row.cpu}}, row.slices);
    }
    return {};
  }

 private:
  KeptFile file_;
  const size_t per_cpu_max_;
  std::string text_;
};

}  // namespace

CollectorPtr make_schedstat(const Sources& sources, const Filters& filters) {
  return std::make_unique<SchedstatCollector>(sources, filters.per_cpu_max);
}

}  // namespace vagt::agent
