// Any text gets an answer in bounded time and stack.
#include "parse_support.h"

namespace vagt::query {
namespace {

std::string repeat(std::string_view what, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += what;
  return out;
}
std::string error_of(std::string_view text, const ParseOptions& options = all_features()) {
  return parse_expr(text, options).status().message();
}

TEST(ParseLimits, DeepParenthesesAreRefusedWithTheirPlace) {
  EXPECT_EQ(error_of(repeat("(", 10'000) + "1" + repeat(")", 10'000)),
            "1:501: parse error: parentheses are nested more than 500 deep");
  EXPECT_EQ(error_of(repeat("sum(", 100'000)),
            "1:2004: parse error: parentheses are nested more than 500 deep");
  EXPECT_EQ(error_of("x[" + repeat("(", 10'000) + "1" + repeat(")", 10'000) + "]"),
            "1:503: parse error: parentheses are nested more than 500 deep");
  EXPECT_EQ(error_of(repeat("(", 500) + "1" + repeat(")", 500)), "");
  EXPECT_EQ(error_of(repeat("abs(", 500) + "x" + repeat(")", 500)), "");
  EXPECT_EQ(error_of(repeat("(", 501)),
            "1:501: parse error: parentheses are nested more than 500 deep");
}

TEST(ParseLimits, LongRowsOfOperatorsMakeDeepTrees) {
  EXPECT_EQ(error_of("x" + repeat(" or x", 999)), "");
  EXPECT_EQ(error_of("x" + repeat(" or x", 25'000)),
            "1:1: parse error: expression is nested more than 1000 deep");
  EXPECT_NE(error_of("x" + repeat(" ^ x", 25'000)), "");
  EXPECT_NE(error_of(repeat("-", 100'000) + "x"), "");
  EXPECT_EQ(reprint(repeat("-", 100'001) + "1"), "-1");  // signs of numbers fold
  EXPECT_NE(error_of("x" + repeat("[5m:]", 20'000)), "");
  EXPECT_NE(error_of("x[1" + repeat("+1", 50'000) + "]"), "");
}

TEST(ParseLimits, LongButFlatQueriesPass) {
  std::string regex = "x{a=~\"";
  for (int i = 0; i < 10'000; ++i) regex += "host" + std::to_string(i) + "|";
  EXPECT_EQ(error_of(regex + "\"}"), "");
  std::string matchers = "x{";
  for (int i = 0; i < 8'000; ++i) matchers += "a" + std::to_string(i) + "=\"b\",";
  EXPECT_EQ(error_of(matchers + "}"), "");
  EXPECT_EQ(error_of("label_join(x" + repeat(",\"abcdef\"", 10'000) + ")"), "");
  EXPECT_EQ(error_of("sum by (a" + repeat(", abcdefgh", 10'000) + ") (x)"), "");
}

TEST(ParseLimits, TooManyBytes) {
  ParseOptions options;
  options.max_bytes = 10;
  EXPECT_EQ(error_of("1234567890", options), "");
  EXPECT_EQ(error_of("1234567890 ", options), "1:11: parse error: query is longer than 10 bytes");
}

TEST(ParseLimits, LimitsAreOptions) {
  ParseOptions options;
  options.max_nesting = 2;
  EXPECT_EQ(error_of("((1))", options), "");
  EXPECT_EQ(error_of("(((1)))", options),
            "1:3: parse error: parentheses are nested more than 2 deep");
  options.max_depth = 3;
  EXPECT_EQ(error_of("1 + 1 + 1", options), "");
  EXPECT_EQ(error_of("1 + 1 + 1 + 1", options),
            "1:1: parse error: expression is nested more than 3 deep");
}

}  // namespace
}  // namespace vagt::query
