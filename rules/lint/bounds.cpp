#include "rules/lint/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "query/functions.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::AggregateOp;
using query::BinaryOp;
using query::Expr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Bounds kAny{}, kPositive{0, kInfinity}, kAtLeastOne{1, kInfinity}, kFlag{0, 1};

bool is_finite(const Bounds& b) { return std::isfinite(b.low) && std::isfinite(b.high); }

Bounds hull(const Bounds& a, const Bounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of the four corners; what is not a number (0·∞, ∞−∞) makes the whole unknown.
template <class F>
Bounds corners(const Bounds& a, const Bounds& b, const F& f) {
  const std::array<double, 4> values = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low),
                                        f(a.high, b.high)};
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return kAny;
  return {*std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

Bounds product(const Bounds& a, const Bounds& b) {
  // Infinity times a side that may be 0 is 0 where the finite value is 0.
  return corners(a, b, [](double x, double y) { return x == 0 || y == 0 ? 0.0 : x * y; });
}

Bounds quotient(const Bounds& a, const Bounds& b) {
  if (b.low < 0 && b.high > 0) return kAny;
  if (b.low == 0 || b.high == 0) {
    // Only the sign is certain.
    if (a.low >= 0 && b.low >= 0) return kPositive;
    return kAny;
  }
  return corners(a, b, [](double x, double y) { return x / y; });
}

Bounds arithmetic(BinaryOp op, const Bounds& a, const Bounds& b) {
  switch (op) {
    case BinaryOp::Add:
      return {a.low + b.low, a.high + b.high};
    case BinaryOp::Sub:
      return {a.low - b.high, a.high - b.low};
    case BinaryOp::Mul:
      return product(a, b);
    case BinaryOp::Div:
      return quotient(a, b);
    default:
      return kAny;
  }
}

Bounds without_nan(const Bounds& b) { return std::isnan(b.low) || std::isnan(b.high) ? kAny : b; }

// What a filtering comparison lets through of `lhs`.
Bounds filtered(BinaryOp op, const Bounds& lhs, const Bounds& rhs) {
  switch (op) {
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return {std::max(lhs.low, rhs.low), lhs.high};
    case BinaryOp::Lt:
    case BinaryOp::Le:
      return {lhs.low, std::min(lhs.high, rhs.high)};
    case BinaryOp::Eq:
      return {std::max(lhs.low, rhs.low), std::min(lhs.high, rhs.high)};
    default:
      return lhs;
  }
}

Bounds binary(const query::Binary& node, const MetricCatalog& catalog) {
  const Bounds lhs = bounds_of(*node.lhs, catalog), rhs = bounds_of(*node.rhs, catalog);
  if (query::is_comparison(node.op)) {
    if (node.return_bool) return kFlag;
    // Of a number and a vector the vector's value passes.
    const bool is_reversed = node.lhs->type == query::ValueType::Scalar;
    return is_reversed ? rhs : filtered(node.op, lhs, rhs);
  }
  if (node.op == BinaryOp::Or) return hull(lhs, rhs);
  if (query::is_set_operator(node.op)) return lhs;
  return without_nan(arithmetic(node.op, lhs, rhs));
}

Bounds aggregate(const query::Aggregate& node, const MetricCatalog& catalog) {
  const Bounds inner = bounds_of(*node.expr, catalog);
  switch (node.op) {
    case AggregateOp::Sum:
      // One element or many, of one sign.
      return {inner.low >= 0 ? inner.low : -kInfinity, inner.high <= 0 ? inner.high : kInfinity};
    case AggregateOp::Count:
    case AggregateOp::CountValues:
      return kAtLeastOne;
    case AggregateOp::Group:
      return {1, 1};
    case AggregateOp::Stddev:
    case AggregateOp::Stdvar:
      return kPositive;
    case AggregateOp::Quantile:
      return kAny;
    default:
      return inner;
  }
}

// The fastest that a timestamp can grow without a jump is a second a second; a jump to now may be
// anything, so that only the sign is known.
Bounds rate_bounds(const Bounds& inner) { return inner.low >= 0 ? kPositive : kAny; }

Bounds call(const query::Call& node, const MetricCatalog& catalog) {
  const std::string_view name = node.function->name;
  const auto argument = [&](size_t i) {
    return i < node.args.size() ? bounds_of(*node.args[i], catalog) : kAny;
  };
  if (name == "rate" || name == "irate" || name == "increase") return rate_bounds(argument(0));
  if (name == "changes" || name == "resets") return kPositive;
  if (name == "count_over_time") return kAtLeastOne;
  if (name == "present_over_time" || name == "absent" || name == "absent_over_time") return {1, 1};
  if (name == "time" || name == "timestamp") return {0, kInfinity};
  if (name == "sum_over_time") {
    const Bounds inner = argument(0);
    return {inner.low >= 0 ? inner.low : -kInfinity, inner.high <= 0 ? inner.high : kInfinity};
  }
  if (name == "avg_over_time" || name == "min_over_time" || name == "max_over_time" ||
      name == "last_over_time" || name == "first_over_time" || name == "sort" ||
      name == "sort_desc" || name == "label_replace" || name == "label_join" || name == "scalar" ||
      name == "vector") {
    return argument(0);
  }
  if (name == "abs") {
    const Bounds inner = argument(0);
    return inner.low >= 0 ? inner : kPositive;
  }
  if (name == "stddev_over_time" || name == "stdvar_over_time") return kPositive;
  if (name == "clamp_min") return {std::max(argument(0).low, argument(1).low), kInfinity};
  if (name == "clamp_max") return {-kInfinity, std::min(argument(0).high, argument(1).high)};
  if (name == "hour") return {0, 23};
  if (name == "minute") return {0, 59};
  if (name == "day_of_week") return {0, 6};
  if (name == "day_of_month") return {1, 31};
  if (name == "month") return {1, 12};
  if (name == "sgn") return {-1, 1};
  return kAny;
}

}  // namespace

Bounds bounds_of(const query::Expr& expr, const MetricCatalog& catalog) {
  const Expr& e = bare(expr);
  if (const auto* n = std::get_if<query::NumberLiteral>(&e.node)) {
    return std::isnan(n->value) ? kAny : Bounds{n->value, n->value};
  }
  if (const auto* n = std::get_if<query::VectorSelector>(&e.node))
    return catalog.nature_of(n->name).values;
  if (const auto* n = std::get_if<query::MatrixSelector>(&e.node))
    return bounds_of(*n->vector, catalog);
  if (const auto* n = std::get_if<query::Subquery>(&e.node)) return bounds_of(*n->expr, catalog);
  if (const auto* n = std::get_if<query::Call>(&e.node)) return call(*n, catalog);
  if (const auto* n = std::get_if<query::Aggregate>(&e.node)) return aggregate(*n, catalog);
  if (const auto* n = std::get_if<query::Binary>(&e.node)) return binary(*n, catalog);
  if (const auto* n = std::get_if<query::Unary>(&e.node)) {
    const Bounds inner = bounds_of(*n->expr, catalog);
    return n->negate ? Bounds{-inner.high, -inner.low} : inner;
  }
  return kAny;
}

Verdict judge(BinaryOp op, const Bounds& lhs, const Bounds& rhs) {
  const bool is_same_point = lhs == rhs && is_finite(lhs) && lhs.low == lhs.high;
  const bool is_apart = lhs.high < rhs.low || rhs.high < lhs.low;
  switch (op) {
    case BinaryOp::Gt:
      return lhs.high <= rhs.low  ? Verdict::Never
             : lhs.low > rhs.high ? Verdict::Always
                                  : Verdict::Open;
    case BinaryOp::Ge:
      return lhs.high < rhs.low    ? Verdict::Never
             : lhs.low >= rhs.high ? Verdict::Always
                                   : Verdict::Open;
    case BinaryOp::Lt:
      return judge(BinaryOp::Gt, rhs, lhs);
    case BinaryOp::Le:
      return judge(BinaryOp::Ge, rhs, lhs);
    case BinaryOp::Eq:
      return is_apart ? Verdict::Never : is_same_point ? Verdict::Always : Verdict::Open;
    case BinaryOp::Ne:
      return is_apart ? Verdict::Always : is_same_point ? Verdict::Never : Verdict::Open;
    default:
      return Verdict::Open;
  }
}

}  // namespace vagt::rules
