// Texts that are PromQL, and what they mean: shown by how the tree prints.
#include "parse_support.h"

#include <cmath>

namespace vagt::query {
namespace {

struct Case {
  const char* text;
  const char* printed;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(reprint(c.text), c.printed) << c.text;
}

TEST(Parse, Numbers) {
  check({{"1", "1"},
         {"1.", "1"},
         {".5", "0.5"},
         {"5e-3", "0.005"},
         {"5E+2", "500"},
         {"0x1F", "31"},
         {"0X_1f", "31"},
         {"0755", "493"},
         {"08", "8"},
         {"1_000_000", "1000000"},
         {".123_456", "0.123456"},
         {"9223372036854775808", "9223372036854776000"},
         {"Inf", "+Inf"},
         {"+inf", "+Inf"},
         {"-iNf", "-Inf"},
         {"Inf ^ x", "Inf ^ x"},
         {"-Inf ^ x", "-Inf ^ x"},
         {"x ^ Inf", "x ^ +Inf"},
         {"NaN", "NaN"},
         {"-1", "-1"},
         {"--1", "1"},
         {"+-+1", "-1"}});
}

TEST(Parse, DurationsAreNumbers) {
  check({{"5m", "5m"},
         {"1h30m15s500ms", "1h30m15s500ms"},
         {"-90s", "-1m30s"},
         {"-0m", "-0s"},
         {"time() - x > 10m", "time() - x > 10m"},
         {"x @ 1m40s", "x @ 100.000"},
         {"x[300]", "x[5m]"},
         {"x[1.5]", "x[1s500ms]"},
         {"x[5m:30]", "x[5m:30s]"},
         {"x offset 60", "x offset 1m"}});
  const ExprPtr expr = must_parse("1d");
  ASSERT_TRUE(expr);
  EXPECT_EQ(std::get<NumberLiteral>(expr->node).value, 86400);
  EXPECT_TRUE(std::get<NumberLiteral>(expr->node).duration);
}

TEST(Parse, Strings) {
  check({{R"("a")", R"("a")"},
         {R"('a"b')", R"("a\"b")"},
         {R"('it\'s')", R"("it's")"},
         {"`a\\nb`", R"("a\\nb")"},
         {"`a\nb`", R"("a\nb")"},
         {R"("\a\b\f\n\r\t\v\\\"")", R"("\a\b\f\n\r\t\v\\\"")"},
         {R"("\x41\101\u00e9\U0001F600")", R"("AAé😀")"},
         {R"("\xff")", R"("\xff")"},
         {R"(("a"))", R"(("a"))"}});
}

TEST(Parse, Selectors) {
  check({{"foo", "foo"},
         {"foo:bar", "foo:bar"},
         {":a", ":a"},
         {"foo{}", "foo"},
         {"foo{a='b',}", R"(foo{a="b"})"},
         {R"(foo{b!="c", a=~"d.*", c!~"e"})", R"(foo{a=~"d.*",b!="c",c!~"e"})"},
         {R"({__name__="foo"})", R"({__name__="foo"})"},
         {R"({__name__=~"foo|bar", a=""})", R"({__name__=~"foo|bar",a=""})"},
         {R"({"foo"})", R"({__name__="foo"})"},
         {R"({"http.requests", "k8s.pod"="x"})", R"({"k8s.pod"="x",__name__="http.requests"})"},
         {R"(foo{"l 1"=~"x"})", R"(foo{"l 1"=~"x"})"},
         {R"({`raw`, b="c"})", R"({__name__="raw",b="c"})"}});
}

TEST(Parse, KeywordsAreNamesWhereNothingElseFits) {
  for (const char* word :
       {"sum",    "avg",       "topk",       "limitk",      "and",      "or",
        "unless", "by",        "without",    "offset",      "start",    "end",
        "step",   "range",     "min_of",     "max_of",      "anchored", "smoothed",
        "fill",   "fill_left", "fill_right", "count_values"}) {
    EXPECT_EQ(reprint(word), word);
    EXPECT_EQ(reprint(std::string(word) + "{a=\"b\"}[5m]"), std::string(word) + "{a=\"b\"}[5m]");
  }
  for (const char* word : {"sum", "and", "bool", "by", "on", "ignoring", "group_left",
                           "group_right", "offset", "start", "end", "atan2", "anchored", "fill"}) {
    const std::string text = std::string("sum by (") + word + ", b) (x{" + word + "=\"1\"})";
    EXPECT_EQ(reprint(text), text);
  }
  check({{"fill + fill", "fill + fill"},
         {"or or or", "or or or"},
         {"offset offset 5m", "offset offset 5m"},
         {"sum(sum)", "sum(sum)"},
         {"SUM BY (a) (x)", "sum by (a) (x)"},
         {"x AND y OR z", "x and y or z"}});
}

TEST(Parse, CommentsAndSpace) {
  check({{"# a\nfoo # b\n+ # c {\n bar", "foo + bar"},
         {"foo{ # in braces\n a=\"#\" }", R"(foo{a="#"})"},
         {"foo [ 5m ]", "foo[5m]"},
         {"\t\r\n 1", "1"}});
}

TEST(Parse, Aggregations) {
  check({{"sum(x)", "sum(x)"},
         {"sum by (a, b) (x)", "sum by (a, b) (x)"},
         {"sum(x) by (a)", "sum by (a) (x)"},
         {"sum by () (x)", "sum(x)"},
         {"sum without () (x)", "sum without () (x)"},
         {"sum without (a,) (x)", "sum without (a) (x)"},
         {R"(sum by ("k8s.pod", a) (x))", R"(sum by ("k8s.pod", a) (x))"},
         {"topk(3, x)", "topk(3, x)"},
         {"bottomk by (a) (3, x)", "bottomk by (a) (3, x)"},
         {R"(count_values("v", x))", R"(count_values("v", x))"},
         {"quantile(0.9, x)", "quantile(0.9, x)"},
         {"limitk(2, x)", "limitk(2, x)"},
         {"limit_ratio(-0.5, x)", "limit_ratio(-0.5, x)"}});
}

TEST(Parse, Matching) {
  check({{"a + on () b", "a + on () b"},
         {"a + ignoring (x) b", "a + ignoring (x) b"},
         {"a / on (x, y) group_left b", "a / on (x, y) group_left () b"},
         {"a / on (x) group_right (z) b", "a / on (x) group_right (z) b"},
         {"a == bool on (x) b", "a == bool on (x) b"},
         {"a and ignoring (x) b", "a and ignoring (x) b"},
         {"1 + on () a", "1 + a"},
         {"a + fill (0) b", "a + fill (0) b"},
         {"a + on (x) group_left fill_right (-1) fill_left (NaN) b",
          "a + on (x) group_left () fill_left (NaN) fill_right (-1) b"}});
}

TEST(Parse, Shifts) {
  check({{"x offset 5m", "x offset 5m"},
         {"x offset -5m", "x offset -5m"},
         {"x[5m] offset 1h @ 10", "x[5m] @ 10.000 offset 1h"},
         {"x @ start() offset 1h", "x @ start() offset 1h"},
         {"x @ end()", "x @ end()"},
         {"x @ -1.5", "x @ -1.500"},
         {"x @ 0x10", "x @ 16.000"},
         {"rate(x[5m])[1h:]", "rate(x[5m])[1h:]"},
         {"x[1h:5m] @ 1 offset 2m", "x[1h:5m] @ 1.000 offset 2m"},
         {"-x offset 5m", "-x offset 5m"},
         {"x offset -2 ^ 2", "x offset -2s ^ 2"},
         {"x offset step()*0", "x offset step() * 0"},
         {"increase(x[1m] anchored)", "increase(x[1m] anchored)"},
         {"x smoothed offset 1m", "x smoothed offset 1m"}});
}

TEST(Parse, DurationArithmetic) {
  check({{"x[5m * 2]", "x[5m * 2]"},
         {"x[-5m+35m]", "x[-5m + 35m]"},
         {"x[(9m30s+30s)*3]", "x[(9m30s + 30s) * 3]"},
         {"x[2^3^2s]", "x[2 ^ 3 ^ 2s]"},
         {"x[1h30m % 1h]", "x[1h30m % 1h]"},
         {"x[STEP()+1ms:range()/2]", "x[step() + 1ms:range() / 2]"},
         {"x[max_of(min_of(step()+1,1h),1ms)]", "x[max_of(min_of(step() + 1, 1h), 1ms)]"},
         {"x offset (1h / 2)", "x offset (1h / 2)"},
         {"x offset -(20*3s)", "x offset -(20 * 3s)"},
         {"x offset -min_of(step(), 1s)+8000", "x offset -min_of(step(), 1s) + 8000"},
         {"x offset (-step()*2)", "x offset (-step() * 2)"},
         {"x[(5m)]", "x[5m]"},
         {"x[(-2) ^ 2]", "x[(-2) ^ 2]"},
         {"x[(5m) * 2]", "x[(5m) * 2]"},
         {"x offset ++2 + 5m", "x offset (2 + 5m)"},
         {"x offset +-2 ^ 2", "x offset (-2 ^ 2)"},
         {"x offset (1 + 2) * 3", "x offset (1 + 2) * 3"},
         {"x offset --step()", "x offset (--step())"},
         {"x offset -(5m)", "x offset -5m"}});
}

TEST(Parse, ExperimentalPartsNeedTheirFlags) {
  const ParseOptions plain;
  EXPECT_EQ(reprint("min_of(1, 2)", plain),
            R"(1:1: parse error: function "min_of" is not enabled)");
  EXPECT_EQ(reprint("start()", plain), R"(1:1: parse error: function "start" is not enabled)");
  EXPECT_EQ(reprint("limitk(1, x)", plain),
            "1:1: parse error: limitk() is experimental and must be enabled with "
            "--enable-feature=promql-experimental-functions");
  EXPECT_EQ(reprint("rate(x[5m] anchored)", plain),
            "1:6: parse error: anchored modifier is experimental and not enabled");
  EXPECT_EQ(reprint("a + fill(0) b", plain),
            "1:1: parse error: binop fill modifiers are experimental and not enabled");
  ParseOptions no_arithmetic;
  no_arithmetic.duration_expressions = false;
  EXPECT_EQ(reprint("x[5m * 2]", no_arithmetic),
            "1:3: parse error: experimental duration expression is not enabled");
  EXPECT_EQ(reprint("x[5m]", no_arithmetic), "x[5m]");
}

TEST(Parse, PlacesAreByteRanges) {
  const std::string text = "sum by (a) (rate(foo{x=\"y\"}[5m] offset 1h)) / 2";
  const ExprPtr expr = must_parse(text);
  ASSERT_TRUE(expr);
  const auto slice = [&](const Expr& e) {
    return text.substr(e.source.begin, e.source.end - e.source.begin);
  };
  EXPECT_EQ(slice(*expr), text);
  const auto& binary = std::get<Binary>(expr->node);
  EXPECT_EQ(slice(*binary.lhs), "sum by (a) (rate(foo{x=\"y\"}[5m] offset 1h))");
  EXPECT_EQ(slice(*binary.rhs), "2");
  const auto& call = *std::get<Aggregate>(binary.lhs->node).expr;
  EXPECT_EQ(slice(call), "rate(foo{x=\"y\"}[5m] offset 1h)");
  EXPECT_EQ(slice(*std::get<Call>(call.node).args[0]), "foo{x=\"y\"}[5m] offset 1h");
}

TEST(ParseMetricSelector, GivesMatchers) {
  const auto matchers = parse_metric_selector(R"(up{job=~"a|b"})");
  ASSERT_TRUE(matchers.ok());
  ASSERT_EQ(matchers->size(), 2u);
  EXPECT_EQ((*matchers)[0].to_string(), R"(job=~"a|b")");
  EXPECT_EQ((*matchers)[1].to_string(), R"(__name__="up")");
  ASSERT_TRUE(parse_metric_selector("{}").ok());  // the caller decides
  EXPECT_EQ(parse_metric_selector("up[5m]").status().message(),
            R"(1:3: parse error: unexpected "[")");
  EXPECT_EQ(parse_metric_selector("1").status().message(),
            R"(1:1: parse error: unexpected number "1")");
  EXPECT_EQ(parse_metric_selector("up{").status().message(),
            "1:4: parse error: unexpected end of input inside braces");
}

}  // namespace
}  // namespace vagt::query
