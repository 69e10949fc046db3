#include <fmt/core.h>

#include <algorithm>

#include "base/time.h"
#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/checks.h"
#include "rules/lint/selectors.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::BinaryOp;
using query::Expr;

constexpr int kScrapesInRange = 4;

bool needs_two_samples(std::string_view name) {
  return name == "rate" || name == "increase" || name == "delta" || name == "deriv" ||
         name == "changes" || name == "resets" || name == "predict_linear";
}

void short_ranges(const CheckedRule& rule, const Report& report) {
  const Duration least = kScrapesInRange * rule.settings.scrape_interval;
  each_node(rule.expr(), [&](const Expr& expr) {
    const auto* call = std::get_if<query::Call>(&expr.node);
    if (call == nullptr || !needs_two_samples(call->function->name)) return;
    const auto range = range_of(*call);
    if (!range || *range >= least) return;
    report("range-under-four-scrapes", &expr,
           fmt::format("{} holds fewer than {} scrapes at an interval of {}: one missed scrape and "
                       "there is no value",
                       format_duration(*range), kScrapesInRange,
                       format_duration(rule.settings.scrape_interval)),
           fmt::format("[{}]", format_duration(least)));
  });
}

void short_for(const CheckedRule& rule, const Report& report) {
  const AlertRule* alert = rule.alert();
  if (alert == nullptr || alert->hold_for <= Duration(0)) return;
  const auto known = rule.group.interval ? rule.group.interval : rule.settings.evaluation_interval;
  if (!known || alert->hold_for >= *known) return;
  const Duration interval = *known;
  report("for-under-interval", nullptr,
         fmt::format("`for: {}` is shorter than the evaluation interval of {}: it holds the alert "
                     "back for one whole interval",
                     format_duration(alert->hold_for), format_duration(interval)),
         fmt::format("for: {}", format_duration(interval)));
}

// How long one event keeps `expr` met, where that is rate(x[5m]) > 0 and nothing else.
std::optional<Duration> echo_of(const Expr& expr) {
  const auto* node = bare_as<query::Binary>(expr);
  if (node == nullptr || node->op != BinaryOp::Gt) return std::nullopt;
  const auto* limit = bare_as<query::NumberLiteral>(*node->rhs);
  const query::Call* call = compared_rate(*node->lhs);
  if (limit == nullptr || limit->value != 0 || call == nullptr) return std::nullopt;
  return range_of(*call);
}

void alternatives(const Expr& expr, std::vector<const Expr*>& out) {
  const auto* node = bare_as<query::Binary>(expr);
  if (node == nullptr || node->op != BinaryOp::Or) {
    out.push_back(&bare(expr));
    return;
  }
  alternatives(*node->lhs, out);
  alternatives(*node->rhs, out);
}

// Met for five minutes after one event: `for: 1m` waits in vain.
void for_filters_nothing(const CheckedRule& rule, const Report& report) {
  const Duration hold_for = rule.alert()->hold_for;
  if (hold_for <= Duration(0)) return;
  std::vector<const Expr*> all;
  alternatives(rule.expr(), all);
  const bool is_vain = std::all_of(all.begin(), all.end(), [&](const Expr* e) {
    const auto echo = echo_of(*e);
    return echo && *echo > hold_for;
  });
  if (!is_vain) return;
  report("for-filters-nothing", all.front(),
         fmt::format("one event keeps this met for {}: `for: {}` delays the alert and filters "
                     "nothing",
                     format_duration(*echo_of(*all.front())), format_duration(hold_for)),
         "");
}

}  // namespace

void check_timing(const CheckedRule& rule, const Report& report) {
  short_ranges(rule, report);
  short_for(rule, report);
  if (rule.alert() == nullptr) return;
  for_filters_nothing(rule, report);
}

}  // namespace vagt::rules
