// How operators bind, shown with every pair of operands in brackets.
#include "parse_support.h"

namespace vagt::query {
namespace {

std::string shape(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr.node)) {
    return "[" + shape(*binary->lhs) + " " + std::string(binary_op_text(binary->op)) + " " +
           shape(*binary->rhs) + "]";
  }
  if (const auto* unary = std::get_if<Unary>(&expr.node))
    return std::string("[") + (unary->negate ? "-" : "+") + shape(*unary->expr) + "]";
  if (const auto* paren = std::get_if<Paren>(&expr.node)) return "(" + shape(*paren->expr) + ")";
  return print_expr(expr);
}

void check(std::string_view text, std::string_view wanted) {
  const ExprPtr expr = must_parse(text);
  ASSERT_TRUE(expr);
  EXPECT_EQ(shape(*expr), wanted) << text;
}

TEST(Precedence, LevelsFromLooseToTight) {
  check("a or b and c", "[a or [b and c]]");
  check("a unless b or c", "[[a unless b] or c]");
  check("a and b == c", "[a and [b == c]]");
  check("a > b + c", "[a > [b + c]]");
  check("a + b * c", "[a + [b * c]]");
  check("a - b atan2 c", "[a - [b atan2 c]]");
  check("a * b ^ c", "[a * [b ^ c]]");
  check("a ^ b * c", "[[a ^ b] * c]");
}

TEST(Precedence, LeftAssociativeButPower) {
  check("a - b - c", "[[a - b] - c]");
  check("a / b * c % d", "[[[a / b] * c] % d]");
  check("a ^ b ^ c", "[a ^ [b ^ c]]");
  check("a == b != c", "[[a == b] != c]");
  check("a or b or c", "[[a or b] or c]");
  check("(a - b) - (c - d)", "[([a - b]) - ([c - d])]");
}

TEST(Precedence, SignsBindAsMultiplication) {
  check("-a ^ b", "[-[a ^ b]]");
  check("-a * b", "[[-a] * b]");
  check("-a + b", "[[-a] + b]");
  check("a ^ -b", "[a ^ [-b]]");
  check("a ^ -b * c", "[[a ^ [-b]] * c]");
  check("a ^ -b ^ c", "[a ^ [-[b ^ c]]]");
  check("- + -a", "[-[+[-a]]]");
  check("-1 ^ 2", "[-[1 ^ 2]]");
  check("2 ^ -1", "[2 ^ -1]");
  check("a - -b", "[a - [-b]]");
}

// Arithmetic in durations follows the same levels.
std::string duration_shape(const DurationExpr& e) {
  using Op = DurationExpr::Op;
  const auto two = [&](char op) {
    return "[" + duration_shape(*e.lhs) + op + duration_shape(*e.rhs) + "]";
  };
  switch (e.op) {
    case Op::Literal:
      return std::to_string(static_cast<int>(e.seconds));
    case Op::Add:
      return two('+');
    case Op::Sub:
      return two('-');
    case Op::Mul:
      return two('*');
    case Op::Div:
      return two('/');
    case Op::Mod:
      return two('%');
    case Op::Pow:
      return two('^');
    case Op::Negate:
      return "[-" + duration_shape(*e.lhs) + "]";
    case Op::Step:
      return "s";
    default:
      return "?";
  }
}

void check_duration(const std::string& text, std::string_view wanted) {
  const ExprPtr expr = must_parse("x[" + text + "]");
  ASSERT_TRUE(expr);
  const auto& matrix = std::get<MatrixSelector>(expr->node);
  ASSERT_TRUE(matrix.range_expr) << text;
  EXPECT_EQ(duration_shape(*matrix.range_expr), wanted) << text;
}

TEST(Precedence, Durations) {
  check_duration("1+2*3", "[1+[2*3]]");
  check_duration("10-2-3", "[[10-2]-3]");
  check_duration("2^3^2", "[2^[3^2]]");
  check_duration("-2^2", "[-[2^2]]");
  check_duration("(1+2)*3", "[[1+2]*3]");
  check_duration("-step()*2", "[[-s]*2]");
  check_duration("8/4%3", "[[8/4]%3]");
}

TEST(Precedence, OffsetEndsAtTheFirstTerm) {
  const auto offset_of = [](const Expr& e) { return std::get<VectorSelector>(e.node).shift; };
  const ExprPtr sum = must_parse("x offset 100 + 2");
  ASSERT_TRUE(sum && std::holds_alternative<Binary>(sum->node));
  EXPECT_EQ(offset_of(*std::get<Binary>(sum->node).lhs).offset, std::chrono::seconds(100));
  const ExprPtr inside = must_parse("x offset (100 + 2)");
  ASSERT_TRUE(inside && std::holds_alternative<VectorSelector>(inside->node));
  EXPECT_TRUE(offset_of(*inside).offset_expr);
  const ExprPtr behind = must_parse("x offset -(1 + 2) + 8000");
  EXPECT_TRUE(behind && std::holds_alternative<Binary>(behind->node));
}

}  // namespace
}  // namespace vagt::query
