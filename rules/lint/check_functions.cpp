#include <fmt/core.h>

#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/checks.h"
#include "rules/lint/selectors.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::Expr;

bool is_rate(std::string_view name) {
  return name == "rate" || name == "irate" || name == "increase";
}

// The metric's range as written: "[5m]".
std::string range_text(const Expr& argument) {
  const std::string text = query::print_expr(bare(argument));
  const size_t at = text.rfind('[');
  return at == std::string::npos ? "[5m]" : text.substr(at);
}

void rate_on_gauge(const Expr& expr, const query::Call& call, const CheckedRule& rule,
                   const Report& report) {
  const query::VectorSelector* selector = selector_of(*call.args.at(0));
  if (selector == nullptr) return;
  const std::string metric(metric_name(*selector));
  const std::string range = range_text(*call.args[0]);
  const std::string selected = print_selector(*call.args[0]);
  switch (rule.settings.catalog.nature_of(metric).type) {
    case MetricType::LastValue:
      report("rate-on-gauge", &expr,
             fmt::format("{} is a gauge that holds the code of the last event: an event with the "
                         "same code as the one before is not seen, a lower code passes for a "
                         "restarted counter, and the value is a difference of codes",
                         metric),
             "");
      return;
    case MetricType::Timestamp:
      report("rate-on-gauge", &expr,
             fmt::format("{} is an instant: while something restarts again and again it grows by a "
                         "second a second, so that the rate stays near 1; a single restart after a "
                         "long life gives a large rate",
                         metric),
             fmt::format("changes({}{}) > 3", selected, range));
      return;
    case MetricType::Gauge:
      report("rate-on-gauge", &expr,
             fmt::format("{} is a gauge: {}() takes each fall of it for a restarted counter",
                         metric, call.function->name),
             fmt::format("{}({}{})", call.function->name == "increase" ? "delta" : "deriv",
                         selected, range));
      return;
    case MetricType::Counter:
    case MetricType::Unknown:
      return;
  }
}

void delta_on_counter(const Expr& expr, const query::Call& call, const CheckedRule& rule,
                      const Report& report) {
  const query::VectorSelector* selector = selector_of(*call.args.at(0));
  if (selector == nullptr) return;
  const std::string metric(metric_name(*selector));
  if (rule.settings.catalog.nature_of(metric).type != MetricType::Counter) return;
  const std::string_view name = call.function->name;
  report("delta-on-counter", &expr,
         fmt::format("{} is a counter: {}() gives a large fall where it restarts", metric, name),
         fmt::format("{}({}{})", name == "delta" ? "increase" : "rate",
                     print_selector(*call.args[0]), range_text(*call.args[0])));
}

void absent_with_regex(const Expr& expr, const query::Call& call, const Report& report) {
  const query::VectorSelector* selector = selector_of(*call.args.at(0));
  if (selector == nullptr) return;
  for (const Matcher& m : selector->matchers) {
    if (m.name() == "__name__" || m.op() != MatchOp::Regex) continue;
    report("absent-with-regex", &expr,
           fmt::format("{} is met only when every series that {} selects is gone, and the alert "
                       "cannot say which one is missing",
                       call.function->name, m.to_string()),
           "");
    return;
  }
}

}  // namespace

void check_functions(const CheckedRule& rule, const Report& report) {
  each_node(rule.expr(), [&](const Expr& expr) {
    const auto* call = std::get_if<query::Call>(&expr.node);
    if (call == nullptr || call->args.empty()) return;
    const std::string_view name = call->function->name;
    if (is_rate(name)) rate_on_gauge(expr, *call, rule, report);
    if (name == "delta" || name == "deriv" || name == "idelta")
      delta_on_counter(expr, *call, rule, report);
    if (name == "absent" || name == "absent_over_time") absent_with_regex(expr, *call, report);
  });
}

}  // namespace vagt::rules
