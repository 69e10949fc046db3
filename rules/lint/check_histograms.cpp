#include <fmt/core.h>

#include <algorithm>

#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/checks.h"
#include "rules/lint/label_flow.h"
#include "rules/lint/selectors.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::Expr;

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void bound_without_point(const Expr& expr, const query::VectorSelector& selector,
                         const Report& report) {
  for (const Matcher& m : selector.matchers) {
    if (m.name() != "le" && m.name() != "quantile") continue;
    if (m.op() != MatchOp::Equal || !is_whole_number(m.value())) continue;
    report("bound-without-point", &expr,
           fmt::format("bounds are stored with a decimal point: {}=\"{}\" selects nothing",
                       m.name(), m.value()),
           fmt::format("{}=\"{}.0\"", m.name(), m.value()));
  }
}

bool has_buckets(const Expr& expr) {
  bool found = false;
  each_node(expr, [&](const Expr& e) {
    const auto* selector = std::get_if<query::VectorSelector>(&e.node);
    found = found || (selector != nullptr && metric_name(*selector).ends_with("_bucket"));
  });
  return found;
}

// The first rate() or increase() below, as text: what an aggregation would be put around.
std::string rate_text(const Expr& expr) {
  std::string text;
  each_node(expr, [&](const Expr& e) {
    const auto* call = std::get_if<query::Call>(&e.node);
    if (text.empty() && call != nullptr && compared_rate(e) != nullptr) text = query::print_expr(e);
  });
  return text;
}

void quantile(const Expr& expr, const query::Call& call, const Report& report) {
  const Expr& buckets = *call.args.at(1);
  if (!has_buckets(buckets)) return;
  const auto* sum = bare_as<query::Aggregate>(buckets);
  if (sum == nullptr) {
    const std::string rate = rate_text(buckets);
    report("quantile-of-every-series", &expr,
           "nothing is summed up before the quantile: each label set has one of its own, and a "
           "single slow request among few makes it the bucket's upper end",
           rate.empty() ? ""
                        : fmt::format("histogram_quantile({}, sum by (le, instance) ({}))",
                                      query::print_expr(*call.args[0]), rate));
    return;
  }
  const bool has_le =
      std::find(sum->grouping.begin(), sum->grouping.end(), "le") != sum->grouping.end();
  if (has_le == sum->without) {
    report("quantile-without-le", &expr,
           "the aggregation drops the label le: histogram_quantile() gives nothing",
           sum->without ? "" : "sum by (le, …) (…)");
  }
}

}  // namespace

void check_histograms(const CheckedRule& rule, const Report& report) {
  each_node(rule.expr(), [&](const Expr& expr) {
    if (const auto* selector = std::get_if<query::VectorSelector>(&expr.node))
      bound_without_point(expr, *selector, report);
    const auto* call = std::get_if<query::Call>(&expr.node);
    if (call != nullptr && call->function->name == "histogram_quantile" && call->args.size() == 2)
      quantile(expr, *call, report);
  });
}

}  // namespace vagt::rules
