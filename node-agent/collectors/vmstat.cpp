// The fields of /proc/vmstat that the filter lets through.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class VmstatCollector final : public Collector {
 public:
  VmstatCollector(const Sources& sources, NameFilter fields)
      : file_(sources.proc("vmstat")), fields_(std::move(fields)) {}
  std::string_view name() const override { return "vmstat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_, line;
    for (size_t i = 0; next_line(rest, line); ++i) {
      const std::string_view field = next_word(line);
      if (!wanted(i, field)) continue;
      const auto number = to_number(next_word(line));
      if (!number) continue;
      const std::string metric = "node_vmstat_" + std::string(field);
      sink.untyped(metric, "/proc/vmstat information field " + std::string(field) + ".")
          .add(*number);
    }
    return {};
  }

 private:
  // The file has some 180 lines in an order that never changes: the regex runs once for each.
  bool wanted(size_t index, std::string_view field) {
    if (index >= known_.size()) known_.resize(index + 1);
    auto& [known_field, keep] = known_[index];
    if (known_field != field) {
      known_field = field;
      keep = fields_.keeps(field);
    }
    return keep;
  }

  KeptFile file_;
  const NameFilter fields_;
  std::string text_;
  std::vector<std::pair<std::string, bool>> known_;
};

}  // namespace

CollectorPtr make_vmstat(const Sources& sources, const Filters& filters) {
  return std::make_unique<VmstatCollector>(sources, filters.vmstat_fields);
}

}  // namespace vagt::agent
