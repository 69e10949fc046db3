// Aggregations that keep a few numbers per group and step, so that their input streams through.
#include <cmath>

#include "base/number_text.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/numbers.h"

namespace vagt::query {
namespace {

struct SumState {
  CompensatedSum sum;
  bool seen = false;
  void add(double v) {
    if (seen) {
      sum.add(v);
    } else {
      sum.sum = v;
      seen = true;
    }
  }
  double value() const { return sum.sum + sum.error; }
};

struct AvgState {
  CompensatedMean mean;
  bool seen = false;
  void add(double v) {
    mean.add(v);
    seen = true;
  }
  double value() const { return mean.value(); }
};

template <bool kLargest>
struct ExtremeState {
  double best = 0;
  bool seen = false;
  void add(double v) {
    if (!seen || (kLargest ? best < v : best > v) || std::isnan(best)) best = v;
    seen = true;
  }
  double value() const { return best; }
};

struct CountState {
  double count = 0;
  bool seen = false;
  void add(double) {
    count += 1;
    seen = true;
  }
  double value() const { return count; }
};

struct GroupState {
  bool seen = false;
  void add(double) { seen = true; }
  double value() const { return 1; }
};

// Welford's method, without compensation as Prometheus has it between series.
template <bool kRoot>
struct VarianceState {
  double count = 0, mean = 0, squares = 0;
  bool seen = false;
  void add(double v) {
    count += 1;
    if (!seen) {
      seen = true;
      mean = v;
      squares = std::isfinite(v) ? 0 : std::nan("");
      return;
    }
    const double delta = v - mean;
    mean += delta / count;
    squares += delta * (v - mean);
  }
  double value() const { return kRoot ? std::sqrt(squares / count) : squares / count; }
};

template <class State>
class Aggregation final : public Operator {
 public:
  Aggregation(LabelPick pick, OperatorPtr input, const StepGrid& grid, EvalContext& context)
      : index_(std::move(pick)), input_(std::move(input)), grid_(grid), context_(context) {}
  ~Aggregation() override { context_.release(held_); }

  Result<bool> next(StepBatch& out) override {
    if (!consumed_) VAGT_CHECK_OK(consume());
    out.reset(grid_.count);
    for (; group_ < index_.size() && !out.full(); ++group_) {
      const size_t row = out.add(index_.groups()[group_], drop_name_[group_] != 0);
      const State* states = &states_[group_ * grid_.count];
      for (size_t i = 0; i < grid_.count; ++i) {
        if (!states[i].seen) continue;
        out.row(row)[i] = states[i].value();
        out.mask(row)[i] = 1;
      }
    }
    return out.rows() > 0;
  }

 private:
  Status consume() {
    consumed_ = true;
    StepBatch batch;
    while (true) {
      VAGT_TRY(const bool more, input_->next(batch));
      if (!more) return {};
      for (size_t row = 0; row < batch.rows(); ++row) VAGT_CHECK_OK(add(batch, row));
    }
  }

  Status add(const StepBatch& batch, size_t row) {
    const std::span<const uint8_t> mask = batch.mask(row);
    // A series without a value must not make a group.
    if (!any_present(mask)) return {};
    const size_t group = index_.find_or_add(batch.labels[row]);
    if (group == drop_name_.size()) {
      drop_name_.push_back(0);
      states_.resize(index_.size() * grid_.count);
      held_ += grid_.count;
      VAGT_CHECK_OK(context_.hold(grid_.count));
    }
    if (batch.drop_name[row] != 0) drop_name_[group] = 1;
    State* states = &states_[group * grid_.count];
    const std::span<const double> values = batch.row(row);
    for (size_t i = 0; i < values.size(); ++i) {
      if (mask[i] != 0) states[i].add(values[i]);
    }
    return {};
  }

  GroupIndex index_;
  const OperatorPtr input_;
  const StepGrid grid_;
  EvalContext& context_;
  std::vector<State> states_;  // groups × steps
  std::vector<uint8_t> drop_name_;
  size_t held_ = 0, group_ = 0;
  bool consumed_ = false;
};

}  // namespace

Result<OperatorPtr> make_aggregate(const PlanNode& node, const StepGrid& grid,
                                   EvalContext& context) {
  const auto& aggregate = std::get<Aggregate>(node.expr->node);
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  const auto streaming = [&]<class State>(State) -> OperatorPtr {
    return std::make_unique<Aggregation<State>>(LabelPick(aggregate.grouping, aggregate.without),
                                                std::move(input), grid, context);
  };
  switch (aggregate.op) {
    case AggregateOp::Sum:
      return streaming(SumState{});
    case AggregateOp::Avg:
      return streaming(AvgState{});
    case AggregateOp::Min:
      return streaming(ExtremeState<false>{});
    case AggregateOp::Max:
      return streaming(ExtremeState<true>{});
    case AggregateOp::Count:
      return streaming(CountState{});
    case AggregateOp::Group:
      return streaming(GroupState{});
    case AggregateOp::Stddev:
      return streaming(VarianceState<true>{});
    case AggregateOp::Stdvar:
      return streaming(VarianceState<false>{});
    case AggregateOp::Quantile:
      return make_quantile(node, std::move(input), grid, context);
    case AggregateOp::CountValues:
      return make_count_values(node, std::move(input), grid, context);
    case AggregateOp::Topk:
    case AggregateOp::Bottomk:
    case AggregateOp::Limitk:
    case AggregateOp::LimitRatio:
      return make_select_k(node, std::move(input), grid, context);
  }
  return Status{Code::Internal, "unknown aggregation"};
}

}  // namespace vagt::query
