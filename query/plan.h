// A plan: the expression with what every run can know beforehand. Immutable; any number of runs and
// threads share one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/ast.h"
#include "query/evaluator.h"

namespace vagt::query {

// One node of the expression with parentheses removed.
// Children: a call's arguments; an aggregation's expression, then its parameter; both sides of an
// operator; the inside of a sub-query. Selectors have none.
struct PlanNode {
  const Expr* expr = nullptr;
  std::vector<PlanNode> children;
  bool invariant = false;  // the same at every step: evaluated once and repeated
  bool one_name =
      true;  // all its series carry one metric name, so dropping it cannot make two alike
  std::optional<double> constant;  // a scalar known already
};

class Plan {
 public:
  Plan(ExprPtr expr, std::string text);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Expr& expr() const { return *expr_; }
  const PlanNode& root() const { return root_; }
  // "LINE:COLUMN" of a byte of the query text, as annotations name places.
  std::string position(uint32_t byte) const;

 private:
  const ExprPtr expr_;
  const std::string text_;
  PlanNode root_;
};

// The expression inside any number of parentheses.
const Expr& without_parens(const Expr& expr);
double scalar_binary(BinaryOp op, double lhs, double rhs);

// The plan as an indented tree, one node a line, with what was found out about each.
std::string explain_plan(const Plan& plan);

}  // namespace vagt::query
