#include <fmt/core.h>

#include "query/parse.h"
#include "rules/lint/checks.h"
#include "rules/lint/label_flow.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::Expr;

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "no labels" : text;
}

std::set<std::string> without(std::set<std::string> names, const std::vector<std::string>& labels) {
  for (const std::string& label : labels) names.erase(label);
  names.erase("__name__");
  return names;
}

void join(const Expr& expr, const query::Binary& node, const Report& report) {
  const query::VectorMatching& matching = *node.matching;
  const LabelFlow lhs = labels_of(*node.lhs), rhs = labels_of(*node.rhs);
  if (matching.on) {
    for (const std::string& label : matching.labels) {
      const bool is_left = lhs.may_have(label), is_right = rhs.may_have(label);
      if (is_left && is_right) continue;
      report("join-cannot-match", &expr,
             fmt::format("the {} side has no label {} to match on{}",
                         is_left == is_right ? "left and the right"
                         : is_left           ? "right"
                                             : "left",
                         label, is_left == is_right ? ": the condition is empty" : ""),
             "");
    }
    return;
  }
  if (lhs.is_open || rhs.is_open) return;
  const auto left = without(lhs.names, matching.labels);
  const auto right = without(rhs.names, matching.labels);
  if (left == right) return;
  std::set<std::string> common;
  for (const std::string& name : left) {
    if (right.contains(name)) common.insert(name);
  }
  report("join-cannot-match", &expr,
         fmt::format("the left side carries {}, the right side {}: no two elements have the same "
                     "labels",
                     listed(left), listed(right)),
         fmt::format("… {} on ({}) …", query::binary_op_text(node.op),
                     common.empty() ? "" : listed(common)));
}

}  // namespace

void check_joins(const CheckedRule& rule, const Report& report) {
  each_node(rule.expr(), [&](const Expr& expr) {
    const auto* node = std::get_if<query::Binary>(&expr.node);
    if (node == nullptr || !node->matching) return;
    // `or` with another label set is how alternatives are written.
    if (node->op == query::BinaryOp::Or) return;
    join(expr, *node, report);
  });
}

}  // namespace vagt::rules
