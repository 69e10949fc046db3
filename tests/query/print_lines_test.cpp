#include "parse_support.h"

namespace vagt::query {
namespace {

std::string format(std::string_view text) {
  const ExprPtr expr = must_parse(text);
  return expr ? format_expr(*expr) : "";
}

TEST(FormatExpr, ShortStaysOnOneLine) {
  EXPECT_EQ(format("sum(rate(foo{a=\"b\",c=~\"d\"}[5m]))by(x)"),
            R"(sum by (x) (rate(foo{a="b",c=~"d"}[5m])))");
  EXPECT_EQ(format("foo offset 5m @ end()"), "foo @ end() offset 5m");
}

TEST(FormatExpr, SplitsCallsAndAggregations) {
  EXPECT_EQ(format("histogram_quantile(0.9,sum by(le)(rate(http_request_duration_seconds_bucket{"
                   "job=\"averyveryverylongjobname\",handler=\"/api/v1/query_range\"}[5m])))"),
            R"(histogram_quantile(
  0.9,
  sum by (le) (
    rate(
      http_request_duration_seconds_bucket{handler="/api/v1/query_range",job="averyveryverylongjobname"}[5m]
    )
  )
))");
}

TEST(FormatExpr, SplitsOperatorsParensAndSubqueries) {
  const std::string name(60, 'a');
  EXPECT_EQ(format(name + " / on (x) group_left " + name),
            "  " + name + "\n/ on (x) group_left ()\n  " + name);
  EXPECT_EQ(format("(" + name + " + " + name + ")"),
            "(\n    " + name + "\n  +\n    " + name + "\n)");
  EXPECT_EQ(format("sum(" + name + " + " + name + ")[1h:5m]"),
            "sum(\n    " + name + "\n  +\n    " + name + "\n)[1h:5m]");
  EXPECT_EQ(format("-sum(" + name + " + " + name + ")"),
            "-sum(\n    " + name + "\n  +\n    " + name + "\n)");
  EXPECT_EQ(format("topk(3, " + name + " + " + name + ")"),
            "topk(\n  3,\n    " + name + "\n  +\n    " + name + "\n)");
}

TEST(FormatExpr, MeansTheSame) {
  for (const char* text : {"a + b * -c ^ d", "sum by (a) (x) / count(x) > bool 1",
                           "max_over_time(rate(x[5m])[1h:1m])"}) {
    const ExprPtr expr = must_parse(text);
    ASSERT_TRUE(expr);
    EXPECT_EQ(reprint(format_expr(*expr)), print_expr(*expr));
  }
}

}  // namespace
}  // namespace vagt::query
