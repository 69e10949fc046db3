#include "tests/query/tree_generator.h"

#include <algorithm>
#include <cmath>

#include "base/labels.h"
#include "query/functions.h"

namespace vagt::query {
namespace {

using Card = VectorMatching::Card;
using Extended = VectorSelector::Extended;

ExprPtr make(decltype(Expr::node) node, ValueType type) {
  auto expr = std::make_shared<Expr>();
  expr->node = std::move(node);
  expr->type = type;
  return expr;
}
ExprPtr in_brackets(ExprPtr expr) {
  const ValueType type = expr->type;
  return make(Paren{std::move(expr)}, type);
}

int precedence(BinaryOp op) {
  if (op == BinaryOp::Or) return 1;
  if (op == BinaryOp::And || op == BinaryOp::Unless) return 2;
  if (is_comparison(op)) return 3;
  if (op == BinaryOp::Add || op == BinaryOp::Sub) return 4;
  return op == BinaryOp::Pow ? 6 : 5;
}
// A sign binds like `*`. What is no operator binds closest.
int precedence(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr.node)) return precedence(binary->op);
  if (std::holds_alternative<Unary>(expr.node)) return 5;
  const auto* number = std::get_if<NumberLiteral>(&expr.node);
  return number != nullptr && std::signbit(number->value) ? 5 : 7;
}
bool is_binary(const Expr& expr) { return std::holds_alternative<Binary>(expr.node); }

// What follows such an offset is read as more of its arithmetic.
bool ends_in_duration_arithmetic(const Expr& expr) {
  if (const auto* selector = std::get_if<VectorSelector>(&expr.node))
    return selector->shift.offset_expr != nullptr;
  if (const auto* unary = std::get_if<Unary>(&expr.node))
    return ends_in_duration_arithmetic(*unary->expr);
  if (const auto* binary = std::get_if<Binary>(&expr.node))
    return ends_in_duration_arithmetic(*binary->rhs);
  return false;
}

// Brackets where the operand would be cut apart by its operator. `^` binds to the right, the others
// to the left; a sign in front of a right operand is never in doubt.
ExprPtr left_operand(ExprPtr expr, BinaryOp op) {
  const int own = precedence(*expr), outer = precedence(op);
  const bool continues = op <= BinaryOp::Pow && ends_in_duration_arithmetic(*expr);
  const bool fits = !continues && (op == BinaryOp::Pow ? own > outer : own >= outer);
  return fits ? expr : in_brackets(std::move(expr));
}
ExprPtr right_operand(ExprPtr expr, BinaryOp op) {
  const int own = precedence(*expr), outer = precedence(op);
  const bool fits = !is_binary(*expr) || (op == BinaryOp::Pow ? own >= outer : own > outer);
  return fits ? expr : in_brackets(std::move(expr));
}

// As in Prometheus a number must come before a sub-query's colon.
bool has_literal(const DurationExpr& expr) {
  return expr.op == DurationExpr::Op::Literal || (expr.lhs && has_literal(*expr.lhs)) ||
         (expr.rhs && has_literal(*expr.rhs));
}

}  // namespace

ExprPtr TreeGenerator::tree(ValueType type, int depth) {
  const bool brackets = depth > 0 && type != ValueType::String && one_in(8);
  const ExprPtr inner = [&] {
    switch (type) {
      case ValueType::Scalar:
        return scalar(depth);
      case ValueType::String:
        return string();
      case ValueType::Matrix:
        return matrix(depth);
      default:
        return vector(depth);
    }
  }();
  return brackets ? in_brackets(inner) : inner;
}

ExprPtr TreeGenerator::scalar(int depth) {
  switch (depth <= 0 ? 0 : below(5)) {
    case 0:
      return number();
    case 1:
      return unary(ValueType::Scalar, depth);
    case 2:
    case 3:
      return binary(ValueType::Scalar, depth);
    default:
      return call(ValueType::Scalar, depth);
  }
}

ExprPtr TreeGenerator::vector(int depth) {
  switch (depth <= 0 ? 0 : below(10)) {
    case 0:
      return vector_selector();
    case 1:
      return unary(ValueType::Vector, depth);
    case 2:
    case 3:
      return aggregate(depth);
    case 4:
    case 5:
    case 6:
      return call(ValueType::Vector, depth);
    case 7:
      return one_in(4) ? info(depth) : call(ValueType::Vector, depth);
    default:
      return binary(ValueType::Vector, depth);
  }
}

ExprPtr TreeGenerator::matrix(int depth) {
  if (depth > 0 && one_in(2)) {
    ExprPtr inner = vector(depth - 1);
    // Only what stands as one word may have a range behind it.
    if (precedence(*inner) < 7) inner = in_brackets(std::move(inner));
    Subquery node;
    node.expr = std::move(inner);
    node.shift = shift();
    node.range = positive_duration();
    if (one_in(4)) {
      node.range = Duration(0);
      do {
        node.range_expr = duration_tree(2);
      } while (!has_literal(*node.range_expr));
    }
    if (one_in(2)) node.step = positive_duration();
    if (one_in(5)) {
      node.step = Duration(0);
      node.step_expr = duration_tree(2);
    }
    return make(std::move(node), ValueType::Matrix);
  }
  VectorSelector selector = selection();
  selector.shift = shift();
  selector.extended = pick({Extended::None, Extended::None, Extended::None, Extended::None,
                            Extended::Anchored, Extended::Smoothed});
  MatrixSelector node;
  node.vector = make(std::move(selector), ValueType::Vector);
  node.range = positive_duration();
  if (one_in(4)) {
    node.range = Duration(0);
    node.range_expr = duration_tree(2);
  }
  return make(std::move(node), ValueType::Matrix);
}

ExprPtr TreeGenerator::number() {
  if (one_in(4))
    return make(NumberLiteral{static_cast<double>(positive_duration().count()) / 1000, true},
                ValueType::Scalar);
  return make(NumberLiteral{any_number(), false}, ValueType::Scalar);
}
ExprPtr TreeGenerator::string() { return make(StringLiteral{text(12)}, ValueType::String); }

ExprPtr TreeGenerator::vector_selector() {
  VectorSelector selector = selection();
  selector.shift = shift();
  if (one_in(8)) selector.extended = pick({Extended::Anchored, Extended::Smoothed});
  return make(std::move(selector), ValueType::Vector);
}

ExprPtr TreeGenerator::call(ValueType returns, int depth) {
  const auto all = all_functions();
  const FunctionSignature* function = nullptr;
  while (function == nullptr || function->returns != returns || function->name == "info")
    function = &all[below(all.size())];
  size_t count = function->args.size();
  if (function->variadic != 0) {
    const size_t more = function->variadic < 0 ? 4 : static_cast<size_t>(function->variadic) + 1;
    count = count - 1 + below(more);
  }
  Call node;
  node.function = function;
  for (size_t i = 0; i < count; ++i)
    node.args.push_back(tree(function->args[std::min(i, function->args.size() - 1)], depth - 1));
  return make(std::move(node), returns);
}

ExprPtr TreeGenerator::info(int depth) {
  Call node;
  node.function = find_function("info");
  node.args.push_back(tree(ValueType::Vector, depth - 1));
  if (one_in(2)) {
    VectorSelector which = selection();
    if (!which.name.empty()) which.matchers.pop_back();
    which.name.clear();
    node.args.push_back(make(std::move(which), ValueType::Vector));
  }
  return make(std::move(node), ValueType::Vector);
}

ExprPtr TreeGenerator::aggregate(int depth) {
  Aggregate node;
  node.op = static_cast<AggregateOp>(below(14));
  if (takes_parameter(node.op)) {
    node.param = tree(node.op == AggregateOp::CountValues ? ValueType::String : ValueType::Scalar,
                      depth - 1);
  }
  node.expr = tree(ValueType::Vector, depth - 1);
  node.without = one_in(3);
  node.grouping = label_names();
  return make(std::move(node), ValueType::Vector);
}

ExprPtr TreeGenerator::binary(ValueType type, int depth) {
  Binary node;
  node.op = static_cast<BinaryOp>(below(type == ValueType::Scalar ? 13 : 16));
  ValueType left = type, right = type;
  if (type == ValueType::Vector && !is_set_operator(node.op) && one_in(2))
    (one_in(2) ? left : right) = ValueType::Scalar;
  const bool vectors = left == ValueType::Vector && right == ValueType::Vector;
  if (is_comparison(node.op)) node.return_bool = type == ValueType::Scalar || one_in(2);
  if (vectors) node.matching = matching(node.op);
  node.lhs = left_operand(tree(left, depth - 1), node.op);
  node.rhs = right_operand(tree(right, depth - 1), node.op);
  return make(std::move(node), type);
}

ExprPtr TreeGenerator::unary(ValueType type, int depth) {
  ExprPtr inner = tree(type, depth - 1);
  // A sign becomes part of the number behind it, and takes no more than a power with it.
  const bool number = std::holds_alternative<NumberLiteral>(inner->node);
  if (number || (is_binary(*inner) && precedence(*inner) < 6))
    inner = in_brackets(std::move(inner));
  return make(Unary{one_in(2), std::move(inner)}, type);
}

VectorSelector TreeGenerator::selection() {
  VectorSelector node;
  if (!one_in(4))
    node.name = pick({"foo", "a:b", "sum", "fill", "offset", "by", "unless", "inf_x"});
  if (node.name.empty())
    node.matchers.push_back(Matcher::equal(one_in(2) ? "__name__" : label_name(), "x" + text(4)));
  for (size_t more = below(3); more > 0; --more) {
    const auto op = static_cast<MatchOp>(below(4));
    const bool regex = op == MatchOp::Regex || op == MatchOp::NotRegex;
    const std::string value = regex ? pick({".*", "a|b", "\\d+\\.\\d", "[^\"]*", ""}) : text(6);
    node.matchers.push_back(Matcher::make(op, label_name(), value).value());
  }
  // As printing orders them.
  std::sort(node.matchers.begin(), node.matchers.end(),
            [](const Matcher& a, const Matcher& b) { return a.to_string() < b.to_string(); });
  if (!node.name.empty())
    node.matchers.push_back(Matcher::equal(std::string(kMetricName), node.name));
  return node;
}

VectorMatching TreeGenerator::matching(BinaryOp op) {
  VectorMatching m;
  m.on = one_in(2);
  m.labels = one_in(2) ? label_names() : std::vector<std::string>();
  if (is_set_operator(op)) {
    m.card = Card::ManyToMany;
    return m;
  }
  m.card = pick({Card::OneToOne, Card::OneToOne, Card::ManyToOne, Card::OneToMany});
  if (m.card != Card::OneToOne && !m.on) m.include = label_names();
  if (one_in(3)) m.fill_lhs = any_number();
  if (one_in(3)) m.fill_rhs = one_in(2) && m.fill_lhs ? *m.fill_lhs : any_number();
  return m;
}

TimeShift TreeGenerator::shift() {
  TimeShift out;
  if (one_in(4)) {
    out.offset = positive_duration() * (one_in(2) ? 1 : -1);
  } else if (one_in(8)) {
    auto wrapped = std::make_shared<DurationExpr>(*duration_tree(2));
    wrapped->wrapped = true;
    out.offset_expr = std::move(wrapped);
  }
  if (!one_in(4)) return out;
  out.at = pick({TimeShift::At::Fixed, TimeShift::At::Start, TimeShift::At::End});
  if (out.at == TimeShift::At::Fixed)
    out.at_time = from_millis(static_cast<int64_t>(random_()) - (int64_t{1} << 31));
  return out;
}

// Arithmetic, never a literal alone; what is below an operator stands in brackets.
DurationExprPtr TreeGenerator::duration_tree(int depth) {
  using Op = DurationExpr::Op;
  const auto leaf = [&] {
    auto out = std::make_shared<DurationExpr>();
    out->op = pick({Op::Literal, Op::Literal, Op::Step, Op::Range});
    if (out->op != Op::Literal) return out;
    out->with_unit = one_in(2);
    out->seconds = out->with_unit ? static_cast<double>(positive_duration().count()) / 1000
                                  : static_cast<double>(1 + below(1000)) / 8;
    return out;
  };
  const auto operand = [&]() -> DurationExprPtr {
    if (depth <= 0 || one_in(2)) return leaf();
    auto out = std::make_shared<DurationExpr>(*duration_tree(depth - 1));
    out->wrapped = true;
    return out;
  };
  auto out = std::make_shared<DurationExpr>();
  out->op = pick({Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Pow, Op::MinOf, Op::MaxOf});
  out->lhs = operand();
  out->rhs = operand();
  return out;
}

std::string TreeGenerator::text(size_t most) {
  static constexpr std::string_view kPieces[] = {
      "a",    "Z",       "0", " ", "\"", "'", "`",  "\\",   "\n",
      "\t",   "\r",      "#", "{", ")",  "é", "漢", "\x7f", std::string_view("\0", 1),
      "\xff", "\xe2\x80"};
  std::string out;
  for (size_t n = below(most + 1); n > 0; --n) out += kPieces[below(std::size(kPieces))];
  return out;
}

std::string TreeGenerator::label_name() {
  return pick({"a", "job", "le", "sum", "on", "offset", "b c", "weird.name", "é", "x\"y"});
}
std::vector<std::string> TreeGenerator::label_names() {
  std::vector<std::string> out(below(3));
  for (std::string& name : out) name = label_name();
  return out;
}

double TreeGenerator::any_number() {
  switch (below(8)) {
    case 0:
      return pick({HUGE_VAL, -HUGE_VAL, std::nan(""), 0.0, -0.0, 1e300, -5e-324});
    case 1:
      return std::ldexp(static_cast<double>(random_()), static_cast<int>(below(200)) - 100);
    case 2:
      return -static_cast<double>(below(1000));
    default:
      return static_cast<double>(below(1000)) / pick({1.0, 1.0, 8.0, 10.0});
  }
}
Duration TreeGenerator::positive_duration() {
  return Duration(static_cast<int64_t>(1 + below(1000)) *
                  pick<int64_t>({1, 1000, 60'000, 3'600'000, 86'400'000, 604'800'000}));
}

}  // namespace vagt::query
