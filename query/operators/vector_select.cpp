#include "query/operators/build.h"
#include "query/operators/selector_read.h"

namespace vagt::query {
namespace {

using Extended = VectorSelector::Extended;

// For each step the newest sample in (step - lookback, step].
class VectorSelect final : public Operator {
 public:
  VectorSelect(const Expr& expr, const StepGrid& grid, bool timestamps, EvalContext& context)
      : selector_(std::get<VectorSelector>(expr.node)),
        grid_(grid),
        timestamps_(timestamps),
        lookback_(context.options.lookback),
        time_(context.times.at(&expr)),
        read_(context, expr, selector_, "") {}

  Result<bool> next(StepBatch& out) override {
    out.reset(grid_.count);
    while (!out.full()) {
      VAGT_TRY(const bool more, read_.next());
      if (!more) break;
      const size_t row = out.add(read_.labels(), false);
      const bool any = selector_.extended == Extended::Smoothed
                           ? fill_smoothed(read_.samples(), out.row(row), out.mask(row))
                           : fill(read_.samples(), out.row(row), out.mask(row));
      if (!any) out.remove_last();
    }
    return out.rows() > 0;
  }

 private:
  bool fill(const SampleColumns& samples, std::span<double> row, std::span<uint8_t> mask) const {
    const size_t n = samples.size();
    size_t after = 0;  // samples at or before the step
    bool any = false;
    for (size_t i = 0; i < row.size(); ++i) {
      const Timestamp at = time_.effective(grid_.at(i));
      while (after < n && samples.t[after] <= at) ++after;
      if (after == 0) continue;
      const Timestamp t = samples.t[after - 1];
      const double v = samples.v[after - 1];
      if (t <= at - lookback_ || is_stale(v)) continue;
      row[i] = timestamps_ ? to_seconds(t) : v;
      mask[i] = 1;
      any = true;
    }
    return any;
  }

  // The value on the line between the samples around the step; the last one where none follows.
  bool fill_smoothed(const SampleColumns& raw, std::span<double> row, std::span<uint8_t> mask) {
    kept_.clear();
    for (size_t i = 0; i < raw.size(); ++i) {
      if (!is_stale(raw.v[i])) kept_.push(raw.t[i], raw.v[i]);
    }
    const size_t n = kept_.size();
    size_t after = 0;
    bool any = false;
    for (size_t i = 0; i < row.size(); ++i) {
      const Timestamp at = time_.effective(grid_.at(i));
      while (after < n && kept_.t[after] <= at) ++after;
      if (after == 0 || kept_.t[after - 1] <= at - lookback_) continue;
      const Timestamp t0 = kept_.t[after - 1];
      const double v0 = kept_.v[after - 1];
      double v = v0;
      if (t0 < at && after < n && kept_.t[after] <= at + lookback_) {
        v = v0 + (kept_.v[after] - v0) * static_cast<double>((at - t0).count()) /
                     static_cast<double>((kept_.t[after] - t0).count());
      }
      row[i] = timestamps_ ? to_seconds(t0) : v;
      mask[i] = 1;
      any = true;
    }
    return any;
  }

  const VectorSelector& selector_;
  const StepGrid grid_;
  const bool timestamps_;
  const Duration lookback_;
  const ResolvedTime time_;
  SelectorRead read_;
  SampleColumns kept_;
};

}  // namespace

OperatorPtr make_vector_select(const Expr& expr, const StepGrid& grid, bool timestamps,
                               EvalContext& context) {
  return std::make_unique<VectorSelect>(expr, grid, timestamps, context);
}

}  // namespace vagt::query
