// Packets each CPU took off the network queues.
#include <array>
#include <charconv>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

struct Column {
  size_t index;
  std::string_view name, help;
};
constexpr std::array<Column, 5> kSoftnet = {{
    {0, "node_softnet_processed_total", "Number of processed packets"},
    {1, "node_softnet_dropped_total", "Number of dropped packets"},
    {2, "node_softnet_times_squeezed_total", "Number of times processing packets ran out of quota"},
    {9, "node_softnet_received_rps_total",
     "Number of times processor has been woken up to process packets via an inter-processor "
     "interrupt"},
    {10, "node_softnet_flow_limit_count_total", "Number of times flow limit has been reached"},
}};

class SoftnetCollector final : public Collector {
 public:
  SoftnetCollector(const Sources& sources, size_t per_cpu_max)
      : file_(sources.proc("net/softnet_stat")), per_cpu_max_(per_cpu_max) {}
  std::string_view name() const override { return "softnet"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::vector<std::pair<std::string, std::vector<uint64_t>>> rows;
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      std::vector<uint64_t> values;
      for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
        uint64_t value = 0;
        std::from_chars(word.data(), word.data() + word.size(), value, 16);
        values.push_back(value);
      }
      if (values.size() < 9)
        return Status(Code::Corruption, file_.path() + ": fewer than 9 columns");
      // Newer kernels name the CPU in column 13, since offline ones have no line.
      const uint64_t cpu = values.size() > 12 ? values[12] : rows.size();
      rows.emplace_back(std::to_string(cpu), std::move(values));
    }
    if (rows.size() > per_cpu_max_) rows = {sum(rows)};
    for (const Column& column : kSoftnet)
      for (const auto& [cpu, values] : rows)
        if (column.index < values.size())
          sink.counter(column.name, column.help)
              .add({{"cpu", cpu}}, static_cast<double>(values[column.index]));
    return {};
  }

 private:
  static std::pair<std::string, std::vector<uint64_t>> sum(
      const std::vector<std::pair<std::string, std::vector<uint64_t>>>& rows) {
    std::vector<uint64_t> total(rows.front().second.size());
    for (const auto& row : rows)
      for (size_t i = 0; i < total.size() && i < row.second.size(); ++i) total[i] += row.second[i];
    return {"all", total};
  }

  KeptFile file_;
  const size_t per_cpu_max_;
  std::string text_;
};

}  // namespace

CollectorPtr make_softnet(const Sources& sources, const Filters& filters) {
  return std::make_unique<SoftnetCollector>(sources, filters.per_cpu_max);
}

}  // namespace vagt::agent
