#include "rules/lint.h"

#include <fmt/core.h>

#include <functional>
#include <map>
#include <set>

#include "base/labels.h"
#include "query/functions.h"

namespace vagt::rules {
namespace {

using query::BinaryOp;
using query::Expr;

template <class F>
void each_child(const Expr& expr, const F& visit) {
  const auto maybe = [&](const query::ExprPtr& child) {
    if (child) visit(*child);
  };
  if (const auto* n = std::get_if<query::MatrixSelector>(&expr.node)) maybe(n->vector);
  if (const auto* n = std::get_if<query::Subquery>(&expr.node)) maybe(n->expr);
  if (const auto* n = std::get_if<query::Call>(&expr.node)) {
    for (const query::ExprPtr& arg : n->args) maybe(arg);
  }
  if (const auto* n = std::get_if<query::Aggregate>(&expr.node)) maybe(n->param), maybe(n->expr);
  if (const auto* n = std::get_if<query::Binary>(&expr.node)) maybe(n->lhs), maybe(n->rhs);
  if (const auto* n = std::get_if<query::Unary>(&expr.node)) maybe(n->expr);
  if (const auto* n = std::get_if<query::Paren>(&expr.node)) maybe(n->expr);
}

bool gives_fractions(const Expr& expr) {
  if (const auto* paren = std::get_if<query::Paren>(&expr.node))
    return gives_fractions(*paren->expr);
  if (const auto* sum = std::get_if<query::Aggregate>(&expr.node))
    return gives_fractions(*sum->expr);
  const auto* call = std::get_if<query::Call>(&expr.node);
  if (call == nullptr) return false;
  const std::string_view name = call->function->name;
  return name == "increase" || name == "rate" || name == "delta";
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Hints for one node; children are visited by the caller.
void inspect(const Expr& expr, const std::function<void(std::string)>& say) {
  if (const auto* binary = std::get_if<query::Binary>(&expr.node)) {
    const bool equality = binary->op == BinaryOp::Eq || binary->op == BinaryOp::Ne;
    if (equality && (gives_fractions(*binary->lhs) || gives_fractions(*binary->rhs))) {
      say("increase(), rate() and delta() extrapolate and rarely give whole numbers: compare with "
          "> or <, not == or !=");
    }
  }
  if (const auto* selector = std::get_if<query::VectorSelector>(&expr.node)) {
    for (const Matcher& matcher : selector->matchers) {
      if (matcher.name() != "le" && matcher.name() != "quantile") continue;
      if (matcher.op() != MatchOp::Equal || !is_whole_number(matcher.value())) continue;
      say(
          fmt::format("{}=\"{}\" never matches: histogram bounds are stored with a decimal point, "
                      "write {}=\"{}.0\"",
                      matcher.name(), matcher.value(), matcher.name(), matcher.value()));
    }
  }
}

void walk(const Expr& expr, const std::function<void(std::string)>& say) {
  inspect(expr, say);
  each_child(expr, [&](const Expr& child) { walk(child, say); });
}

}  // namespace

std::vector<LintFinding> lint_duplicates(const std::vector<RuleGroup>& groups) {
  std::vector<std::pair<std::string, TextMap>> duplicates;
  std::set<std::pair<std::string, TextMap>> seen;
  for (const RuleGroup& group : groups) {
    for (const Rule& rule : group.rules) {
      const auto key = std::pair(rule_name(rule), rule_labels(rule));
      if (!seen.insert(key).second) duplicates.push_back(key);
    }
  }
  if (duplicates.empty()) return {};
  std::set<std::pair<std::string, TextMap>> reported;
  std::string text;
  for (const auto& key : duplicates) {
    if (!reported.insert(key).second) continue;
    text += fmt::format("Metric: {}\nLabel(s):\n", key.first);
    for (const auto& [name, value] : key.second) text += fmt::format("\t{}: {}\n", name, value);
  }
  text = fmt::format(
      "{} duplicate rule(s) found.\n{}Might cause inconsistency while recording expressions",
      reported.size(), text);
  return {{std::move(text), true}};
}

std::vector<LintFinding> lint_expressions(const std::vector<RuleGroup>& groups) {
  std::vector<LintFinding> findings;
  for (const RuleGroup& group : groups) {
    for (const Rule& rule : group.rules) {
      const RulePosition at = rule_position(rule);
      walk(rule_expr(rule), [&](const std::string& hint) {
        findings.push_back({fmt::format("{}:{}:{}: rule {}: {}", group.file, at.line, at.column,
                                        quote(rule_name(rule)), hint),
                            false});
      });
    }
  }
  return findings;
}

}  // namespace vagt::rules
