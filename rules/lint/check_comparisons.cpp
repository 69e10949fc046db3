#include <fmt/core.h>

#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/bounds.h"
#include "rules/lint/checks.h"
#include "rules/lint/selectors.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::BinaryOp;
using query::Expr;

std::string bounds_text(const Bounds& b) {
  if (b.low == b.high) return fmt::format("always {}", b.low);
  const bool has_low = b.low > -std::numeric_limits<double>::infinity();
  const bool has_high = b.high < std::numeric_limits<double>::infinity();
  if (has_low && has_high) return fmt::format("between {} and {}", b.low, b.high);
  if (has_low) return fmt::format("{} or more", b.low);
  if (has_high) return fmt::format("{} or less", b.high);
  return "anything";
}

// The number a comparison's other side is; none when it is computed from series.
const query::NumberLiteral* number(const Expr& expr) { return bare_as<query::NumberLiteral>(expr); }

void unreachable(const Expr& expr, const query::Binary& node, bool is_condition,
                 const CheckedRule& rule, const Report& report) {
  if (node.return_bool) return;
  const Bounds lhs = bounds_of(*node.lhs, rule.settings.catalog);
  const Bounds rhs = bounds_of(*node.rhs, rule.settings.catalog);
  const Verdict verdict = judge(node.op, lhs, rhs);
  if (verdict == Verdict::Open) return;
  const bool is_reversed = node.lhs->type == query::ValueType::Scalar;
  const Expr& subject = is_reversed ? *node.rhs : *node.lhs;
  const std::string what =
      fmt::format("{} is {}", query::print_expr(subject), bounds_text(is_reversed ? rhs : lhs));
  if (verdict == Verdict::Never) {
    const auto* aggregate = bare_as<query::Aggregate>(subject);
    const bool is_count =
        aggregate != nullptr && aggregate->op == query::AggregateOp::Count && number(*node.rhs);
    report("never-true", &expr,
           what + (is_count ? ": with nothing to count there is no value at all, not 0"
                            : ": this comparison cannot be met"),
           is_count ? fmt::format("absent({})", query::print_expr(*aggregate->expr)) : "");
  } else if (is_condition) {
    report("always-true", &expr, what + ": the alert fires as soon as there is data", "");
  }
}

void equality_on_fraction(const Expr& expr, const query::Binary& node, const Report& report) {
  if (node.op != BinaryOp::Eq && node.op != BinaryOp::Ne) return;
  const query::Call* call = compared_rate(*node.lhs);
  const auto* value = number(*node.rhs);
  if (call == nullptr || value == nullptr || value->value == 0) return;
  report("equality-on-rate", &expr,
         fmt::format("{}() extrapolates to the ends of its range and rarely gives a whole number",
                     call->function->name),
         fmt::format("{} {} {}", query::print_expr(*node.lhs), node.op == BinaryOp::Eq ? ">=" : "<",
                     value->value));
}

// The selector that is to be over a number; null for other comparisons.
const query::VectorSelector* over_a_number(const query::Binary& node) {
  if (node.op != BinaryOp::Gt && node.op != BinaryOp::Ge) return nullptr;
  return number(*node.rhs) == nullptr ? nullptr : compared_selector(*node.lhs);
}

void counter_without_rate(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                          const Report& report) {
  const query::VectorSelector* selector = over_a_number(node);
  if (selector == nullptr) return;
  const std::string metric(metric_name(*selector));
  if (rule.settings.catalog.nature_of(metric).type != MetricType::Counter) return;
  report("counter-without-rate", &expr,
         fmt::format("{} only ever grows: once it is over the threshold the alert stays until the "
                     "counter restarts",
                     metric),
         "");
}

void per_product(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                 const Report& report) {
  const query::VectorSelector* selector = over_a_number(node);
  if (selector == nullptr) return;
  const std::string metric(metric_name(*selector));
  if (!rule.settings.catalog.nature_of(metric).is_per_product) return;
  const bool is_power = metric.find("POWER") != std::string::npos;
  report("threshold-of-one-product", &expr,
         is_power
             ? fmt::format("power limits reach from 70 W (T4) to 1,000 W and more: {} is "
                           "normal under load on one product and cannot be reached on another",
                           number(*node.rhs)->value)
             : fmt::format("GPUs slow down and shut down at temperatures of their own (shutdown "
                           "at 85 °C on a P100, 104 °C on a P2000): {} is too late for one and "
                           "too early for another",
                           number(*node.rhs)->value),
         metric == "DCGM_FI_DEV_POWER_USAGE"
             ? "DCGM_FI_DEV_POWER_USAGE > 1.05 * DCGM_FI_DEV_ENFORCED_POWER_LIMIT"
         : metric == "DCGM_FI_DEV_GPU_TEMP" ? "DCGM_FI_DEV_GPU_TEMP > DCGM_FI_DEV_SLOWDOWN_TEMP - 3"
                                            : "");
}

// `expr` of an alert that is met whenever this part is.
void conditions(const Expr& expr, bool is_condition, const CheckedRule& rule,
                const Report& report) {
  if (const auto* node = std::get_if<query::Binary>(&expr.node)) {
    if (query::is_comparison(node->op)) {
      unreachable(expr, *node, is_condition && rule.alert() != nullptr, rule, report);
      equality_on_fraction(expr, *node, report);
      if (is_condition) counter_without_rate(expr, *node, rule, report);
      per_product(expr, *node, rule, report);
    }
  }
  const auto* set = std::get_if<query::Binary>(&expr.node);
  const bool passes = std::holds_alternative<query::Paren>(expr.node) ||
                      (set != nullptr && set->op == BinaryOp::Or);
  each_child(expr,
             [&](const Expr& child) { conditions(child, is_condition && passes, rule, report); });
}

}  // namespace

void check_comparisons(const CheckedRule& rule, const Report& report) {
  conditions(rule.expr(), true, rule, report);
}

}  // namespace vagt::rules
