#include "parse_support.h"

namespace vagt::query {
namespace {

std::string error_of(std::string_view text) {
  return parse_expr(text, all_features()).status().message();
}

TEST(Typecheck, GivesEachNodeItsType) {
  EXPECT_EQ(must_parse("1")->type, ValueType::Scalar);
  EXPECT_EQ(must_parse("\"a\"")->type, ValueType::String);
  EXPECT_EQ(must_parse("x")->type, ValueType::Vector);
  EXPECT_EQ(must_parse("x[5m]")->type, ValueType::Matrix);
  EXPECT_EQ(must_parse("x[5m:]")->type, ValueType::Matrix);
  EXPECT_EQ(must_parse("-(1 + 2)")->type, ValueType::Scalar);
  EXPECT_EQ(must_parse("1 + x")->type, ValueType::Vector);
  EXPECT_EQ(must_parse("scalar(x)")->type, ValueType::Scalar);
  EXPECT_EQ(must_parse("sum(x)")->type, ValueType::Vector);
}

TEST(Typecheck, Arguments) {
  EXPECT_EQ(
      error_of("rate(x)"),
      R"(1:6: parse error: expected type range vector in call to function "rate", got instant vector)");
  EXPECT_EQ(
      error_of("abs(x[5m])"),
      R"(1:5: parse error: expected type instant vector in call to function "abs", got range vector)");
  EXPECT_EQ(
      error_of("label_replace(x, 1, \"\", \"\", \"\")"),
      R"(1:18: parse error: expected type string in call to function "label_replace", got scalar)");
  EXPECT_EQ(error_of("abs()"),
            R"(1:1: parse error: expected 1 argument(s) in call to "abs", got 0)");
  EXPECT_EQ(error_of("label_join(x)"),
            R"(1:1: parse error: expected at least 3 argument(s) in call to "label_join", got 1)");
  EXPECT_EQ(error_of("round(x, 1, 2)"),
            R"(1:1: parse error: expected at most 2 argument(s) in call to "round", got 3)");
  EXPECT_EQ(
      error_of("label_join(x, \"a\", \"b\", \"c\", 1)"),
      R"(1:30: parse error: expected type string in call to function "label_join", got scalar)");
}

TEST(Typecheck, Aggregations) {
  EXPECT_EQ(error_of("sum(1)"),
            "1:5: parse error: expected type instant vector in aggregation expression, got scalar");
  EXPECT_EQ(error_of("topk(x, x)"),
            "1:6: parse error: expected type scalar in aggregation parameter, got instant vector");
  EXPECT_EQ(error_of("count_values(1, x)"),
            "1:14: parse error: expected type string in aggregation parameter, got scalar");
}

TEST(Typecheck, Operators) {
  EXPECT_EQ(error_of("1 > 2"),
            "1:3: parse error: comparisons between scalars must use BOOL modifier");
  EXPECT_EQ(error_of("1 + bool 2"),
            "1:3: parse error: bool modifier can only be used on comparison operators");
  EXPECT_EQ(error_of("x and 1"),
            R"(1:1: parse error: set operator "and" not allowed in binary scalar expression)");
  EXPECT_EQ(error_of("x and on (a) group_left () y"),
            R"(1:1: parse error: no grouping allowed for "and" operation)");
  EXPECT_EQ(error_of("x + on (a) group_left (a) y"),
            R"(1:3: parse error: label "a" must not occur in ON and GROUP clause at once)");
  EXPECT_EQ(error_of("1 + on (a) x"),
            "1:1: parse error: vector matching only allowed between instant vectors");
  EXPECT_EQ(
      error_of("x[5m] + 1"),
      "1:1: parse error: binary expression must contain only scalar and instant vector types");
  EXPECT_EQ(
      error_of("1 + \"a\""),
      "1:5: parse error: binary expression must contain only scalar and instant vector types");
  EXPECT_EQ(error_of("x and fill (0) y"),
            "1:1: parse error: filling in missing series not allowed for set operators");
  EXPECT_EQ(error_of("1 + fill (0) x"),
            "1:1: parse error: filling in missing series only allowed between instant vectors");
  EXPECT_EQ(error_of("-\"a\""),
            "1:1: parse error: unary expression only allowed on expressions of type scalar or "
            "instant vector, got "
            "\"string\"");
  EXPECT_EQ(error_of("(1 + 2)[5m:]"),
            "1:1: parse error: subquery is only allowed on instant vector, got scalar instead");
}

TEST(Typecheck, InfoTakesMatchersOnly) {
  EXPECT_EQ(error_of("info(x, {a=~\".*\"})"), "");
  EXPECT_EQ(error_of("info(x, y)"),
            "1:9: parse error: expected label selectors only, got vector selector instead");
  EXPECT_EQ(
      error_of("info(x, 1)"),
      R"(1:1: parse error: expected type instant vector in call to function "info", got scalar)");
}

}  // namespace
}  // namespace vagt::query
