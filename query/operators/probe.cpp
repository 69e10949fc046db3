#include "query/operators/probe.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace vagt::query {
namespace {

class Probe final : public Operator {
 public:
  Probe(OperatorPtr input, NodeCost& cost) : input_(std::move(input)), cost_(cost) {}
  Result<bool> next(StepBatch& out) override {
    const double before = cost_.seconds;
    VAGT_TRY(const bool more, timed(out));
    // A selector has counted its reading already.
    cost_.seconds = before + last_;
    for (size_t row = 0; row < out.rows(); ++row) {
      const std::span<const uint8_t> mask = std::as_const(out).mask(row);
      const auto values = std::count(mask.begin(), mask.end(), uint8_t{1});
      cost_.series += values > 0 ? 1 : 0;
      cost_.values += static_cast<uint64_t>(values);
    }
    return more;
  }

 private:
  Result<bool> timed(StepBatch& out) {
    NodeCost own;
    Result<bool> more = [&] {
      const StopWatch watch(own);
      return input_->next(out);
    }();
    last_ = own.seconds;
    return more;
  }

  const OperatorPtr input_;
  NodeCost& cost_;
  double last_ = 0;
};

std::string short_text(const std::string& text) {
  constexpr size_t kMost = 100;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

OperatorPtr make_probe(OperatorPtr input, NodeCost& cost) {
  return std::make_unique<Probe>(std::move(input), cost);
}

std::string explain_run(const EvalStats& stats) {
  std::string out;
  for (const NodeCost& node : stats.nodes) {
    out.append(node.depth * 2, ' ');
    out += short_text(node.expr);
    out += fmt::format("  # {}", value_type_name(node.type));
    if (node.series_read > 0)
      out += fmt::format(", {} series with {} samples read", node.series_read, node.samples_read);
    if (node.series > 0)
      out += fmt::format(", {} series with {} values out", node.series, node.values);
    if (node.seconds > 0) out += fmt::format(", {:.3f} ms", node.seconds * 1000);
    out += '\n';
  }
  return out;
}

}  // namespace vagt::query
