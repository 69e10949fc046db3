// Walking PromQL trees.
#pragma once

#include "query/ast.h"

namespace vagt::rules {

template <class F>
void each_child(const query::Expr& expr, const F& visit) {
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

// `visit` sees `expr` and everything below it, parents first.
template <class F>
void each_node(const query::Expr& expr, const F& visit) {
  visit(expr);
  each_child(expr, [&](const query::Expr& child) { each_node(child, visit); });
}

// The same expression without the parentheses around it.
inline const query::Expr& bare(const query::Expr& expr) {
  const query::Expr* e = &expr;
  while (const auto* paren = std::get_if<query::Paren>(&e->node)) e = paren->expr.get();
  return *e;
}

template <class Node>
const Node* bare_as(const query::Expr& expr) {
  return std::get_if<Node>(&bare(expr).node);
}

}  // namespace vagt::rules
