#include "rules/lint/selectors.h"

#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::Expr;

// The operand whose values `expr` passes on, null when it computes other ones.
const Expr* passed_on(const Expr& expr) {
  if (const auto* sum = std::get_if<query::Aggregate>(&expr.node)) {
    using Op = query::AggregateOp;
    const bool keeps = sum->op == Op::Sum || sum->op == Op::Avg || sum->op == Op::Min ||
                       sum->op == Op::Max || sum->op == Op::Topk || sum->op == Op::Bottomk;
    return keeps ? sum->expr.get() : nullptr;
  }
  if (const auto* call = std::get_if<query::Call>(&expr.node)) {
    const std::string_view name = call->function->name;
    const bool keeps = name == "label_replace" || name == "label_join" || name == "sort" ||
                       name == "sort_desc" || name == "abs";
    return keeps && !call->args.empty() ? call->args[0].get() : nullptr;
  }
  return nullptr;
}

const Expr& innermost(const Expr& expr) {
  const Expr* e = &bare(expr);
  while (const Expr* next = passed_on(*e)) e = &bare(*next);
  return *e;
}

}  // namespace

const query::VectorSelector* selector_of(const query::Expr& expr) {
  const Expr* e = &bare(expr);
  if (const auto* matrix = std::get_if<query::MatrixSelector>(&e->node)) e = &bare(*matrix->vector);
  return std::get_if<query::VectorSelector>(&e->node);
}

std::string_view metric_name(const query::VectorSelector& selector) {
  if (!selector.name.empty()) return selector.name;
  for (const Matcher& m : selector.matchers) {
    if (m.name() == "__name__" && m.op() == MatchOp::Equal) return m.value();
  }
  return "";
}

std::string print_selector(const query::Expr& expr) {
  const Expr* e = &bare(expr);
  if (const auto* matrix = std::get_if<query::MatrixSelector>(&e->node)) e = &bare(*matrix->vector);
  return query::print_expr(*e);
}

const query::VectorSelector* compared_selector(const query::Expr& expr) {
  return std::get_if<query::VectorSelector>(&innermost(expr).node);
}

const query::Call* compared_rate(const query::Expr& expr) {
  const auto* call = std::get_if<query::Call>(&innermost(expr).node);
  if (call == nullptr) return nullptr;
  const std::string_view name = call->function->name;
  const bool extrapolates =
      name == "rate" || name == "increase" || name == "delta" || name == "irate";
  return extrapolates ? call : nullptr;
}

std::optional<Duration> range_of(const query::Call& call) {
  for (const auto& argument : call.args) {
    const auto* matrix = bare_as<query::MatrixSelector>(*argument);
    if (matrix != nullptr && !matrix->range_expr) return matrix->range;
  }
  return std::nullopt;
}

}  // namespace vagt::rules
