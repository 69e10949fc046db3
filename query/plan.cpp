#include "query/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "query/functions.h"
#include "query/operators/numbers.h"
#include "query/parse.h"

namespace vagt::query {
namespace {

// Their value depends on the step even where their arguments do not (Prometheus's
// AtModifierUnsafeFunctions).
constexpr std::array<std::string_view, 11> kStepDependent = {
    "days_in_month", "day_of_month",   "day_of_week", "day_of_year", "hour", "minute",
    "month",         "predict_linear", "time",        "timestamp",   "year",
};
// These give out the series of their first argument, name included.
constexpr std::array<std::string_view, 9> kNameKeeping = {
    "last_over_time", "first_over_time", "sort",
    "sort_desc",      "sort_by_label",   "sort_by_label_desc",
    "info",           "label_replace",   "label_join",
};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

PlanNode analyse(const Expr& expr);

bool all_invariant(const PlanNode& node) {
  return std::all_of(node.children.begin(), node.children.end(),
                     [](const PlanNode& child) { return child.invariant; });
}

bool names_one_metric(const VectorSelector& selector) {
  return std::any_of(selector.matchers.begin(), selector.matchers.end(), [](const Matcher& m) {
    return m.op() == MatchOp::Equal && m.name() == kMetricName && !m.value().empty();
  });
}

struct Analyser {
  PlanNode& node;

  void operator()(const NumberLiteral& literal) {
    node.invariant = true;
    node.constant = literal.value;
  }
  void operator()(const StringLiteral&) { node.invariant = true; }
  void operator()(const VectorSelector& selector) {
    node.invariant = selector.shift.at != TimeShift::At::None;
    node.one_name = names_one_metric(selector);
  }
  void operator()(const MatrixSelector& selector) {
    (*this)(std::get<VectorSelector>(without_parens(*selector.vector).node));
  }
  void operator()(const Subquery& subquery) {
    node.children.push_back(analyse(*subquery.expr));
    node.invariant = subquery.shift.at != TimeShift::At::None;
    node.one_name = node.children[0].one_name;
  }
  void operator()(const Call& call) {
    for (const ExprPtr& arg : call.args) node.children.push_back(analyse(*arg));
    const std::string_view name = call.function->name;
    node.invariant = all_invariant(node) && !contains(kStepDependent, name);
    if (contains(kNameKeeping, name)) {
      node.one_name = node.children[0].one_name;
      if ((name == "label_replace" || name == "label_join") && node.children.size() > 1) {
        const auto* dst = std::get_if<StringLiteral>(&node.children[1].expr->node);
        if (dst != nullptr && dst->value == kMetricName) node.one_name = false;
      }
    }
  }
  void operator()(const Aggregate& aggregate) {
    node.children.push_back(analyse(*aggregate.expr));
    if (aggregate.param) node.children.push_back(analyse(*aggregate.param));
    node.invariant = all_invariant(node);
    switch (aggregate.op) {
      case AggregateOp::Topk:
      case AggregateOp::Bottomk:
      case AggregateOp::Limitk:
      case AggregateOp::LimitRatio:
        node.one_name = node.children[0].one_name;
        return;
      default:
        node.one_name = aggregate.without || !contains(aggregate.grouping, kMetricName) ||
                        node.children[0].one_name;
    }
  }
  void operator()(const Binary& binary) {
    node.children.push_back(analyse(*binary.lhs));
    node.children.push_back(analyse(*binary.rhs));
    const PlanNode &lhs = node.children[0], &rhs = node.children[1];
    node.invariant = lhs.invariant && rhs.invariant;
    if (lhs.constant && rhs.constant)
      node.constant = scalar_binary(binary.op, *lhs.constant, *rhs.constant);
    if (binary.op == BinaryOp::Or) {
      node.one_name = false;
    } else if (is_comparison(binary.op) || is_set_operator(binary.op)) {
      node.one_name = lhs.one_name && rhs.one_name;
    }
    if (binary.matching && !binary.matching->include.empty() &&
        contains(binary.matching->include, kMetricName))
      node.one_name = false;
    if (binary.matching && (binary.matching->fill_lhs || binary.matching->fill_rhs))
      node.one_name = false;
  }
  void operator()(const Unary& unary) {
    node.children.push_back(analyse(*unary.expr));
    const PlanNode& child = node.children[0];
    node.invariant = child.invariant;
    node.one_name = unary.negate || child.one_name;
    if (child.constant) node.constant = unary.negate ? -*child.constant : *child.constant;
  }
  void operator()(const Paren&) {}  // removed before
};

PlanNode analyse(const Expr& expr) {
  PlanNode node;
  node.expr = &without_parens(expr);
  std::visit(Analyser{node}, node.expr->node);
  return node;
}

void explain_node(const PlanNode& node, size_t depth, std::string& out) {
  out.append(depth * 2, ' ');
  out += print_expr(*node.expr);
  out += "  # ";
  out += value_type_name(node.expr->type);
  if (node.constant) {
    out += ", constant";
  } else if (node.invariant) {
    out += ", once";
  }
  out += '\n';
  for (const PlanNode& child : node.children) explain_node(child, depth + 1, out);
}

}  // namespace

const Expr& without_parens(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* paren = std::get_if<Paren>(&inner->node)) inner = paren->expr.get();
  return *inner;
}

double scalar_binary(BinaryOp op, double lhs, double rhs) {
  switch (op) {
    case BinaryOp::Add:
      return lhs + rhs;
    case BinaryOp::Sub:
      return lhs - rhs;
    case BinaryOp::Mul:
      return lhs * rhs;
    case BinaryOp::Div:
      return lhs / rhs;
    case BinaryOp::Mod:
      return std::fmod(lhs, rhs);
    case BinaryOp::Pow:
      return go_pow(lhs, rhs);
    case BinaryOp::Atan2:
      return std::atan2(lhs, rhs);
    case BinaryOp::Eq:
      return lhs == rhs ? 1 : 0;
    case BinaryOp::Ne:
      return lhs != rhs ? 1 : 0;
    case BinaryOp::Gt:
      return lhs > rhs ? 1 : 0;
    case BinaryOp::Lt:
      return lhs < rhs ? 1 : 0;
    case BinaryOp::Ge:
      return lhs >= rhs ? 1 : 0;
    case BinaryOp::Le:
      return lhs <= rhs ? 1 : 0;
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Unless:
      break;  // the type check allows these between vectors only
  }
  return std::nan("");
}

Plan::Plan(ExprPtr expr, std::string text)
    : expr_(std::move(expr)), text_(std::move(text)), root_(analyse(*expr_)) {}

std::string Plan::position(uint32_t byte) const {
  size_t line = 1, line_start = 0;
  for (size_t i = 0; i < byte && i < text_.size(); ++i) {
    if (text_[i] == '\n') ++line, line_start = i + 1;
  }
  return std::to_string(line) + ":" + std::to_string(byte - line_start + 1);
}

std::string explain_plan(const Plan& plan) {
  std::string out;
  explain_node(plan.root(), 0, out);
  return out;
}

PlanPtr make_plan(ExprPtr expr, std::string text) {
  return std::make_shared<const Plan>(std::move(expr), std::move(text));
}
const Expr& plan_expr(const Plan& plan) { return plan.expr(); }

}  // namespace vagt::query
