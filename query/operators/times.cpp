#include "query/operators/times.h"

#include <algorithm>
#include <cmath>

#include "query/functions.h"
#include "query/operators/numbers.h"
#include "query/operators/selector_read.h"

namespace vagt::query {
namespace {

constexpr Duration kOpenStart{1};  // ranges leave out their first instant

// Duration arithmetic as a whole number of milliseconds.
Result<Duration> resolve(const DurationExpr& expr, const EvalContext& query, bool may_be_negative) {
  const double range = to_seconds(query.end - query.grid.start);
  VAGT_TRY(const double seconds, duration_seconds(expr, to_seconds(query.grid.step), range));
  if (std::isnan(seconds)) return Status::invalid("duration is not a number");
  if (seconds <= 0 && !may_be_negative) return Status::invalid("duration must be greater than 0");
  // What fits Go's nanoseconds.
  if (std::abs(seconds) >= 9'223'372'036.0) return Status::invalid("duration is out of range");
  return Duration(static_cast<int64_t>(seconds * 1000));
}

class Resolver {
 public:
  explicit Resolver(EvalContext& context) : context_(context) {}

  Status walk(const PlanNode& node, const StepGrid& grid) {
    if (const auto* selector = std::get_if<VectorSelector>(&node.expr->node))
      return vector(*node.expr, *selector, grid);
    if (const auto* selector = std::get_if<MatrixSelector>(&node.expr->node))
      return matrix(*node.expr, *selector, grid);
    if (const auto* subquery = std::get_if<Subquery>(&node.expr->node)) {
      VAGT_TRY(const StepGrid inner, sub(*node.expr, *subquery, grid));
      return inner.count == 0 ? Status() : walk(node.children[0], inner);
    }
    const auto* call = std::get_if<Call>(&node.expr->node);
    const bool is_info = call != nullptr && call->function->name == "info";
    for (const PlanNode& child : node.children) {
      // info()'s second argument only names labels; the function reads its series itself.
      if (is_info && &child != node.children.data()) continue;
      VAGT_CHECK_OK(walk(child, grid));
    }
    return {};
  }

  void share_reads();
  Timestamp mint() const { return mint_; }
  Timestamp maxt() const { return maxt_; }

 private:
  struct Use {
    const Expr* expr;
    const std::vector<Matcher>* matchers;
  };

  Status shift(const TimeShift& shift, ResolvedTime& time) {
    time.offset = shift.offset;
    if (shift.offset_expr) {
      VAGT_TRY(time.offset, resolve(*shift.offset_expr, context_, true));
    }
    switch (shift.at) {
      case TimeShift::At::None:
        break;
      case TimeShift::At::Fixed:
        time.at = shift.at_time;
        break;
      case TimeShift::At::Start:
        time.at = context_.grid.start;
        break;
      case TimeShift::At::End:
        time.at = context_.end;
        break;
    }
    return {};
  }

  void add_use(const Expr& expr, const VectorSelector& selector, const ResolvedTime& time) {
    context_.times[&expr] = time;
    uses_.push_back({&expr, &selector.matchers});
    mint_ = std::min(mint_, time.read_start);
    maxt_ = std::max(maxt_, time.read_end);
  }

  Status vector(const Expr& expr, const VectorSelector& selector, const StepGrid& grid) {
    ResolvedTime time;
    VAGT_CHECK_OK(shift(selector.shift, time));
    time.read_start = time.effective(grid.start) - context_.options.lookback + kOpenStart;
    time.read_end = time.effective(grid.last());
    if (selector.extended == VectorSelector::Extended::Smoothed)
      time.read_end += context_.options.lookback;
    add_use(expr, selector, time);
    return {};
  }

  Status matrix(const Expr& expr, const MatrixSelector& matrix, const StepGrid& grid) {
    const auto& selector = std::get<VectorSelector>(without_parens(*matrix.vector).node);
    ResolvedTime time;
    VAGT_CHECK_OK(shift(selector.shift, time));
    time.range = matrix.range;
    if (matrix.range_expr) {
      VAGT_TRY(time.range, resolve(*matrix.range_expr, context_, false));
    }
    time.read_start = time.effective(grid.start) - time.range + kOpenStart;
    time.read_end = time.effective(grid.last());
    if (selector.extended != VectorSelector::Extended::None)
      time.read_start -= context_.options.lookback;
    if (selector.extended == VectorSelector::Extended::Smoothed)
      time.read_end += context_.options.lookback;
    add_use(expr, selector, time);
    return {};
  }

  Result<StepGrid> sub(const Expr& expr, const Subquery& subquery, const StepGrid& grid) {
    ResolvedTime time;
    VAGT_CHECK_OK(shift(subquery.shift, time));
    time.range = subquery.range;
    if (subquery.range_expr) {
      VAGT_TRY(time.range, resolve(*subquery.range_expr, context_, false));
    }
    time.step = subquery.step;
    if (subquery.step_expr) {
      VAGT_TRY(time.step, resolve(*subquery.step_expr, context_, false));
    }
    if (time.step.count() <= 0) time.step = context_.options.default_subquery_step;
    context_.times[&expr] = time;
    const StepGrid inner = subquery_grid(time, grid);
    VAGT_CHECK_OK(context_.check_steps(inner.count));
    return inner;
  }

  EvalContext& context_;
  std::vector<Use> uses_;
  Timestamp mint_ = Timestamp::max(), maxt_ = Timestamp::min();
};

// Selectors with the same matchers whose stretches touch are read once, over all of them.
void Resolver::share_reads() {
  std::stable_sort(uses_.begin(), uses_.end(), [&](const Use& a, const Use& b) {
    return context_.times[a.expr].read_start < context_.times[b.expr].read_start;
  });
  std::vector<bool> taken(uses_.size(), false);
  for (size_t i = 0; i < uses_.size(); ++i) {
    if (taken[i]) continue;
    Timestamp end = context_.times[uses_[i].expr].read_end;
    std::vector<size_t> together = {i};
    for (size_t j = i + 1; j < uses_.size(); ++j) {
      const ResolvedTime& other = context_.times[uses_[j].expr];
      if (taken[j] || other.read_start > end || *uses_[j].matchers != *uses_[i].matchers) continue;
      end = std::max(end, other.read_end);
      together.push_back(j);
    }
    if (together.size() < 2) continue;
    auto read = std::make_unique<SharedRead>();
    read->matchers = *uses_[i].matchers;
    read->start = context_.times[uses_[i].expr].read_start;
    read->end = end;
    for (size_t member : together) {
      taken[member] = true;
      context_.times[uses_[member].expr].shared = static_cast<int>(context_.shared.size());
    }
    context_.shared.push_back(std::move(read));
  }
}

}  // namespace

Result<double> duration_seconds(const DurationExpr& expr, double step, double range) {
  using Op = DurationExpr::Op;
  double lhs = 0, rhs = 0;
  if (expr.lhs) {
    VAGT_TRY(lhs, duration_seconds(*expr.lhs, step, range));
  }
  if (expr.rhs) {
    VAGT_TRY(rhs, duration_seconds(*expr.rhs, step, range));
  }
  // A one-sided operator may keep its operand on either side.
  const double only = expr.lhs ? lhs : rhs;
  switch (expr.op) {
    case Op::Literal:
      return expr.seconds;
    case Op::Step:
      return step;
    case Op::Range:
      return range;
    case Op::Add:
      return lhs + rhs;
    case Op::Sub:
      return lhs - rhs;
    case Op::Mul:
      return lhs * rhs;
    case Op::Div:
      if (rhs == 0) return Status::invalid("division by zero");
      return lhs / rhs;
    case Op::Mod:
      if (rhs == 0) return Status::invalid("modulo by zero");
      return std::fmod(lhs, rhs);
    case Op::Pow:
      return go_pow(lhs, rhs);
    case Op::Negate:
      return -only;
    case Op::Plus:
      return only;
    case Op::MinOf:
      return std::min(lhs, rhs);
    case Op::MaxOf:
      return std::max(lhs, rhs);
  }
  return Status{Code::Internal, "unknown duration operator"};
}

StepGrid subquery_grid(const ResolvedTime& time, const StepGrid& outer) {
  const int64_t step = time.step.count();
  const int64_t after = to_millis(time.effective(outer.start) - time.range);
  const int64_t last = to_millis(time.effective(outer.last()));
  int64_t multiple = after / step;
  if (multiple * step > after) --multiple;  // division truncates towards zero
  const int64_t first = (multiple + 1) * step;
  StepGrid grid;
  grid.start = from_millis(first);
  grid.step = time.step;
  grid.count = first > last ? 0 : static_cast<size_t>((last - first) / step) + 1;
  return grid;
}

Status open_reads(EvalContext& context, tsdb::Store& store) {
  Resolver resolver(context);
  VAGT_CHECK_OK(resolver.walk(context.plan.root(), context.grid));
  resolver.share_reads();
  // info() reads beside the selectors, at most a lookback before what they read.
  const Timestamp mint = std::min(resolver.mint(), context.grid.start) - context.options.lookback;
  const Timestamp maxt = std::max(resolver.maxt(), context.grid.last());
  context.querier = store.querier(mint, maxt);
  if (!context.querier) return {Code::Unavailable, "the store gives no querier"};
  return {};
}

}  // namespace vagt::query
