#include <fmt/core.h>

#include <algorithm>
#include <set>

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

constexpr Duration kLongFor = std::chrono::minutes(5);

std::set<std::string, std::less<>> metrics_of(const Expr& expr) {
  std::set<std::string, std::less<>> names;
  each_node(expr, [&](const Expr& e) {
    if (const auto* selector = std::get_if<query::VectorSelector>(&e.node))
      names.emplace(metric_name(*selector));
  });
  return names;
}

// A level of one instant, compared while `for` runs: one scrape on the other side starts it anew.
void one_sample_resets(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                       const Report& report) {
  if (!query::is_comparison(node.op) || rule.alert()->hold_for < kLongFor) return;
  const auto* selector = std::get_if<query::VectorSelector>(&bare(*node.lhs).node);
  if (selector == nullptr || !rule.settings.catalog.nature_of(metric_name(*selector)).is_noisy)
    return;
  const bool is_over = node.op == BinaryOp::Gt || node.op == BinaryOp::Ge;
  const std::string hold_for = format_duration(rule.alert()->hold_for);
  report("one-sample-resets-for", &expr,
         fmt::format("{} swings from scrape to scrape: one sample on the other side of the limit "
                     "starts `for: {}` anew",
                     metric_name(*selector), hold_for),
         fmt::format("{}({}[{}]) {} {}", is_over ? "avg_over_time" : "max_over_time",
                     query::print_expr(bare(*node.lhs)), hold_for, query::binary_op_text(node.op),
                     query::print_expr(*node.rhs)));
}

// `x unless x offset 10m` finds what has just appeared.
bool is_seen_at_birth(const Expr& expr, std::string_view metric) {
  bool found = false;
  each_node(expr, [&](const Expr& e) {
    const auto* node = std::get_if<query::Binary>(&e.node);
    if (node == nullptr || node->op != BinaryOp::Unless) return;
    const auto* before = compared_selector(*node->rhs);
    found = found || (before != nullptr && before->shift.offset > Duration(0) &&
                      metric_name(*before) == metric);
  });
  return found;
}

bool has_absolute_limit(const Expr& expr, std::string_view metric) {
  bool found = false;
  each_node(expr, [&](const Expr& e) {
    const auto* node = std::get_if<query::Binary>(&e.node);
    if (node == nullptr || !query::is_comparison(node->op)) return;
    const auto* selector = compared_selector(*node->lhs);
    found = found || (selector != nullptr && metric_name(*selector) == metric);
  });
  return found;
}

// A share of all memory means something else on 64 GiB and on 2 TiB.
void share_of_memory(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                     const Report& report) {
  if (node.op != BinaryOp::Lt && node.op != BinaryOp::Le) return;
  const auto* limit = bare_as<query::NumberLiteral>(*node.rhs);
  const auto* ratio = bare_as<query::Binary>(*node.lhs);
  if (limit == nullptr || ratio == nullptr || ratio->op != BinaryOp::Div) return;
  const auto* part = selector_of(*ratio->lhs);
  const auto* whole = selector_of(*ratio->rhs);
  if (part == nullptr || whole == nullptr) return;
  if (metric_name(*part) != "node_memory_MemAvailable_bytes" ||
      metric_name(*whole) != "node_memory_MemTotal_bytes") {
    return;
  }
  if (has_absolute_limit(rule.expr(), metric_name(*part))) return;
  report("share-of-memory", &expr,
         fmt::format("{} of 2 TiB is {:.0f} GiB, of 64 GiB it is {:.1f} GiB: a share alone is too "
                     "early on large hosts",
                     limit->value, limit->value * 2048, limit->value * 64),
         fmt::format("{} and {} < 16 * 2 ^ 30", query::print_expr(expr),
                     query::print_expr(*ratio->lhs)));
}

void reset_by_repair(const Expr& expr, const query::VectorSelector& selector,
                     const std::set<std::string, std::less<>>& all, const CheckedRule& rule,
                     const Report& report) {
  const std::string metric(metric_name(selector));
  if (!rule.settings.catalog.nature_of(metric).is_reset_by_repair) return;
  std::string aggregate = metric;
  aggregate.replace(aggregate.find("_VOL_"), 5, "_AGG_");
  if (all.contains(aggregate)) return;
  report("cleared-by-reset", &expr,
         fmt::format("{} is cleared by the reset of the GPU that follows the error: use {} as well",
                     metric, aggregate),
         "");
}

// Only when nothing else in the rule could speak for it.
void off_by_default(const Expr& expr, const std::set<std::string, std::less<>>& all,
                    const CheckedRule& rule, const Report& report) {
  const auto is_off = [&](const std::string& name) {
    return rule.settings.catalog.nature_of(name).is_off_by_default;
  };
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_off)) return;
  report("off-by-default", &expr,
         fmt::format("dcgm-exporter leaves {} out unless its list of counters is changed: without "
                     "data the rule is silent",
                     *all.begin()),
         "");
}

// A comparison of one metric as it is with a number; "" for anything else.
std::string_view level(const Expr& expr) {
  const auto* node = bare_as<query::Binary>(expr);
  if (node == nullptr || !query::is_comparison(node->op)) return "";
  const auto* selector = bare_as<query::VectorSelector>(*node->lhs);
  return selector == nullptr || bare_as<query::NumberLiteral>(*node->rhs) == nullptr
             ? std::string_view()
             : metric_name(*selector);
}

void allocation(const CheckedRule& rule, const Report& report) {
  const auto* both = bare_as<query::Binary>(rule.expr());
  if (both == nullptr || both->op != BinaryOp::And) return;
  const MetricCatalog& catalog = rule.settings.catalog;
  const MetricNature left = catalog.nature_of(level(*both->lhs));
  const MetricNature right = catalog.nature_of(level(*both->rhs));
  const bool is_idle_but_loaded =
      (left.is_allocation && right.is_noisy) || (left.is_noisy && right.is_allocation);
  if (!is_idle_but_loaded) return;
  report(
      "allocated-is-not-busy", nullptr,
      "memory stays allocated while a model server waits for requests: an idle GPU with memory in "
      "use is its quiet hour; on a MIG GPU there is no utilisation at all",
      "");
}

// Client libraries make series of these labels when the first such thing happens.
bool selects_an_outcome(const query::VectorSelector& selector) {
  static const std::set<std::string_view> kOutcomes = {"code",   "status", "status_code",
                                                       "reason", "result", "outcome"};
  return std::any_of(selector.matchers.begin(), selector.matchers.end(), [](const Matcher& m) {
    return m.op() != MatchOp::NotEqual && kOutcomes.contains(m.name());
  });
}

// A counter whose series appear with their first event: increase() sees the second.
void first_increment(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                     const Report& report) {
  if (node.op != BinaryOp::Gt) return;
  const auto* limit = bare_as<query::NumberLiteral>(*node.rhs);
  const query::Call* call = compared_rate(*node.lhs);
  if (limit == nullptr || limit->value != 0 || call == nullptr) return;
  const auto* selector = selector_of(*call->args.at(0));
  if (selector == nullptr) return;
  const std::string_view metric = metric_name(*selector);
  if (is_seen_at_birth(rule.expr(), metric)) return;
  const MetricNature nature = rule.settings.catalog.nature_of(metric);
  // The agent's own series are there before anything happens.
  const bool may_be_born =
      nature.is_born_counting || (!metric.starts_with("vagt_") && selects_an_outcome(*selector));
  if (nature.type == MetricType::LastValue || !may_be_born) return;
  report("first-increment-invisible", &expr,
         fmt::format("series of {} may appear with their first event: {}() needs two samples and "
                     "does not see it",
                     metric, call->function->name),
         fmt::format("… or ({0} unless {0} offset {1})", print_selector(*call->args[0]),
                     format_duration(range_of(*call).value_or(kLongFor))));
}

void whole_request(const Expr& expr, const query::Binary& node, const CheckedRule& rule,
                   const Report& report) {
  const auto severity = rule.alert()->labels.find("severity");
  const bool is_note = severity != rule.alert()->labels.end() && severity->second == "info";
  if (is_note || !query::is_comparison(node.op)) return;
  const auto* call = bare_as<query::Call>(*node.lhs);
  if (call == nullptr || call->function->name != "histogram_quantile") return;
  for (const std::string& name : metrics_of(*node.lhs)) {
    if (!rule.settings.catalog.nature_of(name).is_whole_request) continue;
    report(
        "latency-of-whole-answer", &expr,
        fmt::format("{} lasts as long as the answer is long: 1,000 tokens at 50 a second are 20 s "
                    "on a healthy server; the time to the first token tells more",
                    name),
        "");
    return;
  }
}

}  // namespace

void check_witnesses(const CheckedRule& rule, const Report& report) {
  if (rule.alert() == nullptr) return;
  const auto all = metrics_of(rule.expr());
  off_by_default(rule.expr(), all, rule, report);
  allocation(rule, report);
  each_node(rule.expr(), [&](const Expr& expr) {
    if (const auto* selector = std::get_if<query::VectorSelector>(&expr.node))
      reset_by_repair(expr, *selector, all, rule, report);
    const auto* node = std::get_if<query::Binary>(&expr.node);
    if (node == nullptr) return;
    first_increment(expr, *node, rule, report);
    one_sample_resets(expr, *node, rule, report);
    share_of_memory(expr, *node, rule, report);
    whole_request(expr, *node, rule, report);
  });
}

}  // namespace vagt::rules
