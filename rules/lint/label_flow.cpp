#include "rules/lint/label_flow.h"

#include "query/functions.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::AggregateOp;
using query::Expr;
using Card = query::VectorMatching::Card;

LabelFlow closed(std::set<std::string> names) {
  return {.is_open = false, .names = std::move(names), .gone = {}};
}

void add(LabelFlow& flow, const std::string& label) {
  if (flow.is_open)
    flow.gone.erase(label);
  else
    flow.names.insert(label);
}

void drop(LabelFlow& flow, const std::string& label) {
  if (flow.is_open)
    flow.gone.insert(label);
  else
    flow.names.erase(label);
}

// Of `flow` only what is named.
LabelFlow kept(const LabelFlow& flow, const std::vector<std::string>& labels) {
  std::set<std::string> names;
  for (const std::string& label : labels) {
    if (flow.may_have(label)) names.insert(label);
  }
  return closed(std::move(names));
}

LabelFlow united(const LabelFlow& a, const LabelFlow& b) {
  if (!a.is_open && !b.is_open) {
    LabelFlow out = a;
    out.names.insert(b.names.begin(), b.names.end());
    return out;
  }
  LabelFlow out;
  const LabelFlow& open = a.is_open ? a : b;
  const LabelFlow& other = a.is_open ? b : a;
  for (const std::string& label : open.gone) {
    if (!other.may_have(label)) out.gone.insert(label);
  }
  return out;
}

LabelFlow aggregate(const query::Aggregate& node) {
  LabelFlow inner = labels_of(*node.expr);
  if (node.op == AggregateOp::Topk || node.op == AggregateOp::Bottomk ||
      node.op == AggregateOp::Limitk || node.op == AggregateOp::LimitRatio) {
    return inner;
  }
  if (!node.without) {
    inner = kept(inner, node.grouping);
  } else {
    for (const std::string& label : node.grouping) drop(inner, label);
    drop(inner, "__name__");
  }
  if (node.op == AggregateOp::CountValues && node.param) {
    if (const auto* label = bare_as<query::StringLiteral>(*node.param)) add(inner, label->value);
  }
  return inner;
}

// absent() gives what = conditions say.
LabelFlow conditions(const Expr& selector) {
  const Expr* e = &bare(selector);
  if (const auto* matrix = std::get_if<query::MatrixSelector>(&e->node)) e = &bare(*matrix->vector);
  const auto* vector = std::get_if<query::VectorSelector>(&e->node);
  LabelFlow out = closed({});
  if (vector == nullptr) return out;
  for (const Matcher& m : vector->matchers) {
    if (m.op() == MatchOp::Equal && m.name() != "__name__") out.names.insert(m.name());
  }
  return out;
}

LabelFlow call(const query::Call& node) {
  const std::string_view name = node.function->name;
  if (name == "absent" || name == "absent_over_time") return conditions(*node.args.at(0));
  const Expr* vector = nullptr;
  for (const auto& argument : node.args) {
    const bool is_series =
        argument->type == query::ValueType::Vector || argument->type == query::ValueType::Matrix;
    if (is_series) vector = argument.get();
  }
  if (vector == nullptr) return closed({});
  LabelFlow flow = labels_of(*vector);
  if (name == "label_replace" || name == "label_join") {
    if (const auto* label = bare_as<query::StringLiteral>(*node.args.at(1)))
      add(flow, label->value);
  }
  if (name.starts_with("histogram_quantile")) drop(flow, "le");
  if (name == "info") return {};
  return flow;
}

LabelFlow binary(const query::Binary& node) {
  const bool is_left = node.lhs->type == query::ValueType::Vector;
  const bool is_right = node.rhs->type == query::ValueType::Vector;
  if (!is_left && !is_right) return closed({});
  if (!is_left || !is_right) return labels_of(is_left ? *node.lhs : *node.rhs);
  const LabelFlow lhs = labels_of(*node.lhs), rhs = labels_of(*node.rhs);
  if (node.op == query::BinaryOp::Or) return united(lhs, rhs);
  if (query::is_set_operator(node.op) || !node.matching) return lhs;
  const query::VectorMatching& matching = *node.matching;
  if (matching.card == Card::OneToOne) {
    if (matching.on) return kept(lhs, matching.labels);
    LabelFlow out = lhs;
    for (const std::string& label : matching.labels) drop(out, label);
    return out;
  }
  LabelFlow out = matching.card == Card::OneToMany ? rhs : lhs;
  for (const std::string& label : matching.include) add(out, label);
  return out;
}

}  // namespace

LabelFlow labels_of(const query::Expr& expr) {
  const Expr& e = bare(expr);
  if (const auto* n = std::get_if<query::MatrixSelector>(&e.node)) return labels_of(*n->vector);
  if (const auto* n = std::get_if<query::Subquery>(&e.node)) return labels_of(*n->expr);
  if (const auto* n = std::get_if<query::Call>(&e.node)) return call(*n);
  if (const auto* n = std::get_if<query::Aggregate>(&e.node)) return aggregate(*n);
  if (const auto* n = std::get_if<query::Binary>(&e.node)) return binary(*n);
  if (const auto* n = std::get_if<query::Unary>(&e.node)) return labels_of(*n->expr);
  if (std::holds_alternative<query::VectorSelector>(e.node)) return {};
  return closed({});
}

}  // namespace vagt::rules
