#include <bit>
#include <cmath>

#include "query/functions.h"
#include "query/parse.h"
#include "tests/query/tree_generator.h"

namespace vagt::query {
namespace {

// To the bit, all NaN alike.
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
bool same(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
bool same(const DurationExprPtr& a, const DurationExprPtr& b) {
  if (!a || !b) return !a && !b;
  return a->op == b->op && same(a->seconds, b->seconds) && a->with_unit == b->with_unit &&
         a->wrapped == b->wrapped && same(a->lhs, b->lhs) && same(a->rhs, b->rhs);
}
bool same(const TimeShift& a, const TimeShift& b) {
  return a.offset == b.offset && same(a.offset_expr, b.offset_expr) && a.at == b.at &&
         (a.at != TimeShift::At::Fixed || a.at_time == b.at_time);
}
bool same(const std::optional<VectorMatching>& a, const std::optional<VectorMatching>& b) {
  if (!a || !b) return !a && !b;
  return a->card == b->card && a->labels == b->labels && a->on == b->on &&
         a->include == b->include && same(a->fill_lhs, b->fill_lhs) &&
         same(a->fill_rhs, b->fill_rhs);
}

// Compares two nodes of one kind; `below` collects what is beneath them.
struct Compare {
  using Pairs = std::vector<std::pair<const Expr*, const Expr*>>;
  Pairs& below;

  void child(const ExprPtr& a, const ExprPtr& b) const { below.emplace_back(a.get(), b.get()); }

  bool operator()(const NumberLiteral& a, const NumberLiteral& b) const {
    return same(a.value, b.value) && a.duration == b.duration;
  }
  bool operator()(const StringLiteral& a, const StringLiteral& b) const {
    return a.value == b.value;
  }
  bool operator()(const VectorSelector& a, const VectorSelector& b) const {
    return a.name == b.name && a.matchers == b.matchers && same(a.shift, b.shift) &&
           a.extended == b.extended;
  }
  bool operator()(const MatrixSelector& a, const MatrixSelector& b) const {
    child(a.vector, b.vector);
    return a.range == b.range && same(a.range_expr, b.range_expr);
  }
  bool operator()(const Subquery& a, const Subquery& b) const {
    child(a.expr, b.expr);
    return a.range == b.range && same(a.range_expr, b.range_expr) && a.step == b.step &&
           same(a.step_expr, b.step_expr) && same(a.shift, b.shift);
  }
  bool operator()(const Call& a, const Call& b) const {
    if (a.function != b.function || a.args.size() != b.args.size()) return false;
    for (size_t i = 0; i < a.args.size(); ++i) child(a.args[i], b.args[i]);
    return true;
  }
  bool operator()(const Aggregate& a, const Aggregate& b) const {
    child(a.expr, b.expr);
    if (a.param || b.param) child(a.param, b.param);
    return a.op == b.op && a.grouping == b.grouping && a.without == b.without;
  }
  bool operator()(const Binary& a, const Binary& b) const {
    child(a.lhs, b.lhs);
    child(a.rhs, b.rhs);
    return a.op == b.op && same(a.matching, b.matching) && a.return_bool == b.return_bool;
  }
  bool operator()(const Unary& a, const Unary& b) const {
    child(a.expr, b.expr);
    return a.negate == b.negate;
  }
  bool operator()(const Paren& a, const Paren& b) const {
    child(a.expr, b.expr);
    return true;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

}  // namespace

std::string tree_difference(const Expr& a, const Expr& b) {
  Compare::Pairs open = {{&a, &b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    if (left == nullptr || right == nullptr) return "something is missing";
    if (left->type != right->type || !std::visit(Compare{open}, left->node, right->node))
      return print_expr(*left) + " became " + print_expr(*right);
  }
  return "";
}

}  // namespace vagt::query
