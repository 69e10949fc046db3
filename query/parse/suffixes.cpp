#include "query/parse/suffixes.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "query/parse/explain.h"
#include "query/parse/numbers.h"

namespace vagt::query::syntax {
namespace {

using MutableExpr = std::shared_ptr<Expr>;
using At = TimeShift::At;
using Extended = VectorSelector::Extended;

Duration to_duration(double seconds) { return Duration(std::llround(seconds * 1000)); }

// A literal goes into the plain duration, arithmetic stays a tree.
void put(const DurationExprPtr& from, Duration& plain, DurationExprPtr& tree) {
  if (from->op == DurationExpr::Op::Literal) {
    plain = to_duration(from->seconds);
  } else {
    tree = from;
  }
}

class Suffix {
 public:
  Suffix(const SuffixSyntax& syntax, std::string_view text, const ParseOptions& options)
      : syntax_(syntax), text_(text), options_(options) {}

  Result<MutableExpr> apply(MutableExpr expr) const {
    switch (syntax_.head.kind) {
      case Kind::LeftBracket:
        return syntax_.subquery ? subquery(std::move(expr)) : range(std::move(expr));
      case Kind::Offset:
        return offset(std::move(expr));
      case Kind::At:
        return at(std::move(expr));
      default:
        return extended(std::move(expr));
    }
  }

 private:
  Status fail(const Expr& at, std::string_view message) const {
    return error_at(text_, at.source.begin, message);
  }
  Result<DurationExprPtr> duration(const DurationSyntax& syntax) const {
    return lower_duration(syntax, text_, options_.duration_expressions, options_.max_depth);
  }
  Result<DurationExprPtr> positive(const DurationSyntax& syntax) const {
    VAGT_TRY(DurationExprPtr value, duration(syntax));
    if (value->op == DurationExpr::Op::Literal && !(value->seconds > 0))
      return error_at(text_, value->source.begin, "duration must be greater than 0");
    return value;
  }
  Result<MutableExpr> range(MutableExpr expr) const;
  Result<MutableExpr> subquery(MutableExpr expr) const;
  Result<MutableExpr> offset(MutableExpr expr) const;
  Result<MutableExpr> at(MutableExpr expr) const;
  Result<MutableExpr> extended(MutableExpr expr) const;

  const SuffixSyntax& syntax_;
  const std::string_view text_;
  const ParseOptions& options_;
};

Result<MutableExpr> Suffix::range(MutableExpr expr) const {
  VAGT_TRY(DurationExprPtr value, positive(syntax_.range[0]));
  const auto refuse = [this](std::string_view message) {
    return error_at(text_, syntax_.head.begin, message);
  };
  const auto* selector = std::get_if<VectorSelector>(&expr->node);
  if (selector == nullptr) return refuse("ranges only allowed for vector selectors");
  if (selector->shift.offset.count() != 0 || selector->shift.offset_expr)
    return refuse("no offset modifiers allowed before range");
  if (selector->shift.at != At::None) return refuse("no @ modifiers allowed before range");
  MatrixSelector node;
  put(value, node.range, node.range_expr);
  auto matrix = std::make_shared<Expr>();
  matrix->source = {expr->source.begin, syntax_.close.end};
  matrix->type = ValueType::Matrix;
  node.vector = std::move(expr);
  matrix->node = std::move(node);
  return matrix;
}

Result<MutableExpr> Suffix::subquery(MutableExpr expr) const {
  VAGT_TRY(DurationExprPtr value, positive(syntax_.range[0]));
  Subquery node;
  put(value, node.range, node.range_expr);
  if (syntax_.range.size() > 1) {
    VAGT_TRY(DurationExprPtr step, positive(syntax_.range[1]));
    put(step, node.step, node.step_expr);
  }
  auto outer = std::make_shared<Expr>();
  outer->source = {expr->source.begin, syntax_.close.end};
  outer->type = ValueType::Matrix;
  node.expr = std::move(expr);
  outer->node = std::move(node);
  return outer;
}

// Runs `change` on the time shift that `expr` carries; false when it cannot carry one.
template <class Change>
bool change_selector(Expr& expr, const Change& change) {
  if (auto* selector = std::get_if<VectorSelector>(&expr.node)) return change(*selector), true;
  auto* matrix = std::get_if<MatrixSelector>(&expr.node);
  if (matrix == nullptr) return false;
  auto inner = std::make_shared<Expr>(*matrix->vector);
  change(std::get<VectorSelector>(inner->node));
  matrix->vector = std::move(inner);
  return true;
}
template <class Change>
bool change_shift(Expr& expr, const Change& change) {
  if (auto* sub = std::get_if<Subquery>(&expr.node)) return change(sub->shift), true;
  return change_selector(expr, [&](VectorSelector& selector) { change(selector.shift); });
}

// Whether the printed duration, read behind `offset`, is taken whole: a call or what begins with a
// parenthesis is, other arithmetic only in parentheses.
bool stands_alone(const DurationExpr& expr) {
  using Op = DurationExpr::Op;
  if (expr.wrapped) return true;
  switch (expr.op) {
    case Op::Literal:
    case Op::Step:
    case Op::Range:
    case Op::MinOf:
    case Op::MaxOf:
      return true;
    case Op::Negate:
      return expr.lhs->op != Op::Literal && expr.lhs->op != Op::Negate &&
             (expr.lhs->wrapped || !expr.lhs->lhs || expr.lhs->op == Op::MinOf ||
              expr.lhs->op == Op::MaxOf);
    default:
      break;
  }
  const DurationExpr* first = &expr;
  while (!first->wrapped && first->lhs && first->op != Op::MinOf && first->op != Op::MaxOf &&
         first->op != Op::Negate)
    first = first->lhs.get();
  return first->wrapped;
}

Result<MutableExpr> Suffix::offset(MutableExpr expr) const {
  VAGT_TRY(DurationExprPtr value, duration(syntax_.range[0]));
  if (!stands_alone(*value)) {
    auto wrapped = std::make_shared<DurationExpr>(*value);
    wrapped->wrapped = true;
    value = std::move(wrapped);
  }
  bool twice = false;
  const bool shifted = change_shift(*expr, [&](TimeShift& shift) {
    twice = shift.offset.count() != 0 || shift.offset_expr != nullptr;
    if (!twice) put(value, shift.offset, shift.offset_expr);
  });
  if (!shifted)
    return fail(*expr,
                "offset modifier must be preceded by an instant vector selector or range vector "
                "selector or a "
                "subquery");
  if (twice) return fail(*expr, "offset may not be set multiple times");
  expr->source.end = value->source.end;
  return expr;
}

Result<MutableExpr> Suffix::at(MutableExpr expr) const {
  At kind = At::Fixed;
  double seconds = 0;
  if (syntax_.at.kind == Kind::Start || syntax_.at.kind == Kind::End) {
    kind = syntax_.at.kind == Kind::Start ? At::Start : At::End;
  } else {
    VAGT_TRY(seconds, number_value(syntax_.at, text_));
    if (syntax_.sign.kind == Kind::Sub) seconds = -seconds;
    // The bounds are int64's, in seconds; the milliseconds are kept within them too.
    if (!std::isfinite(seconds) || std::abs(seconds) >= 9223372036854775807.0)
      return fail(*expr, fmt::format("timestamp out of bounds for @ modifier: {}",
                                     std::isnan(seconds)   ? "NaN"
                                     : std::isinf(seconds) ? (seconds > 0 ? "+Inf" : "-Inf")
                                                           : fmt::format("{:f}", seconds)));
  }
  bool twice = false;
  const bool shifted = change_shift(*expr, [&](TimeShift& shift) {
    twice = shift.at != At::None;
    if (twice) return;
    shift.at = kind;
    constexpr double kMaxMillis = 9.2e18;
    const double millis = std::min(std::max(seconds * 1000, -kMaxMillis), kMaxMillis);
    if (kind == At::Fixed) shift.at_time = from_millis(std::llround(millis));
  });
  if (!shifted)
    return fail(
        *expr,
        "@ modifier must be preceded by an instant vector selector or range vector selector or a "
        "subquery");
  if (twice) return fail(*expr, "@ <timestamp> may not be set multiple times");
  expr->source.end = kind == At::Fixed ? syntax_.at.end : syntax_.close.end;
  return expr;
}

Result<MutableExpr> Suffix::extended(MutableExpr expr) const {
  const bool anchored = syntax_.head.kind == Kind::Anchored;
  const std::string_view name = anchored ? "anchored" : "smoothed";
  if (!options_.extended_range_selectors)
    return fail(*expr, fmt::format("{} modifier is experimental and not enabled", name));
  if (std::holds_alternative<Subquery>(expr->node))
    return fail(*expr, fmt::format("{} modifier is not supported for subqueries", name));
  const Extended wanted = anchored ? Extended::Anchored : Extended::Smoothed;
  bool both = false;
  const bool changed = change_selector(*expr, [&](VectorSelector& selector) {
    both = selector.extended != Extended::None && selector.extended != wanted;
    selector.extended = wanted;
  });
  if (!changed) return fail(*expr, fmt::format("{} modifier not implemented", name));
  if (both) return fail(*expr, "anchored and smoothed modifiers cannot be used together");
  expr->source.end = syntax_.head.end;
  return expr;
}

}  // namespace

Result<MutableExpr> apply_suffix(MutableExpr expr, const SuffixSyntax& suffix,
                                 std::string_view text, const ParseOptions& options) {
  return Suffix(suffix, text, options).apply(std::move(expr));
}

}  // namespace vagt::query::syntax
