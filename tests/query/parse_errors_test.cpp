// What is refused, where and in which words. The words are Prometheus's; most were compared with a
// real server.
#include "parse_support.h"

#include <cmath>

namespace vagt::query {
namespace {

struct Case {
  const char* text;
  const char* error;  // without ": parse error"
};

std::string error_of(std::string_view text) {
  std::string message = parse_expr(text, all_features()).status().message();
  if (const size_t at = message.find(": parse error"); at != std::string::npos)
    message.erase(at, 13);
  return message;
}
void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(error_of(c.text), c.error) << c.text;
}

TEST(ParseErrors, NothingThere) {
  check({{"", "unknown position: no expression found in input"},
         {"  ", "1:1: no expression found in input"},
         {"# only a comment", "1:1: no expression found in input"}});
}

TEST(ParseErrors, UnexpectedTokens) {
  check({{"foo bar", R"(1:5: unexpected identifier "bar")"},
         {"1 +", "1:4: unexpected end of input"},
         {"* 1", "1:1: unexpected <op:*>"},
         {"1 2", R"(1:3: unexpected number "2")"},
         {"a + + group_left b", "1:7: unexpected <group_left>"},
         {"foo:bar a:b", R"(1:9: unexpected metric identifier "a:b")"},
         {R"(foo "some longer string")", R"(1:5: unexpected string "\"some long"...)"},
         {"foo = bar", R"(1:5: unexpected "=")"},
         {"1\n+\n\n foo bar", R"(4:6: unexpected identifier "bar")"},
         {"(foo))", "1:7: unexpected right parenthesis ')'"},
         {"(foo", "1:5: unclosed left parenthesis"},
         {"foo[5m", "1:7: unclosed left bracket"},
         {"foo]", "1:4: unexpected right bracket ']'"},
         {"a ! b", R"(1:3: unexpected character after '!': ' ')"},
         {"a =~ b", "1:3: unexpected character after '=': '~'"},
         {"a $ b", "1:3: unexpected character: '$'"},
         {"a é b", "1:3: unexpected character: 'é'"},
         {"a \xff b", "1:3: unexpected character: '\xEF\xBF\xBD'"}});
}

TEST(ParseErrors, Aggregations) {
  check({{"sum(foo bar)", R"(1:9: unexpected identifier "bar" in aggregation)"},
         {"sum by (a) foo", R"(1:12: unexpected identifier "foo" in aggregation)"},
         {"sum foo", R"(1:5: unexpected identifier "foo")"},
         {"sum by foo", R"x(1:8: unexpected identifier "foo" in grouping opts, expected "(")x"},
         {"sum by (a b) (x)",
          R"x(1:11: unexpected identifier "b" in grouping opts, expected "," or ")")x"},
         {"sum by (1) (x)", R"(1:9: unexpected number "1" in grouping opts, expected label)"},
         {"sum by (without) (x)", "1:9: unexpected <without> in grouping opts, expected label"},
         {R"(sum by ("") (x))", R"(1:9: invalid label name for grouping: "")"},
         {"sum()", "1:1: no arguments for aggregate expression provided"},
         {"sum(a, b)",
          "1:1: wrong number of arguments for aggregate expression provided, expected 1, got 2"},
         {"topk(a)",
          "1:1: wrong number of arguments for aggregate expression provided, expected 2, got 1"},
         {"sum(a,)", "1:6: trailing commas not allowed in function call args"},
         {"sum(a, =)", "1:6: trailing commas not allowed in function call args"}});
}

TEST(ParseErrors, Selectors) {
  check(
      {{"foo{a}", R"(1:6: unexpected "}" in label matching, expected label matching operator)"},
       {"foo{a=}", R"(1:7: unexpected "}" in label matching, expected string)"},
       {"foo{a=b}", R"(1:7: unexpected identifier "b" in label matching, expected string)"},
       {R"(foo{a="b" c="d"})",
        R"(1:11: unexpected identifier "c" in label matching, expected "," or "}")"},
       {R"(foo{,a="b"})", R"(1:5: unexpected "," in label matching, expected identifier or "}")"},
       {R"(foo{a=="b"})", R"(1:7: unexpected "=" in label matching, expected string)"},
       {"foo{a=\"b\"", "1:10: unexpected end of input inside braces"},
       {"foo{1}", "1:5: unexpected character inside braces: '1'"},
       {"foo{a!b}", "1:6: unexpected character after '!' inside braces: 'b'"},
       {"foo{{", "1:5: unexpected left brace '{'"},
       {"{}", "1:1: vector selector must contain at least one non-empty matcher"},
       {R"({a=""})", "1:1: vector selector must contain at least one non-empty matcher"},
       {R"({a=~".*"})", "1:1: vector selector must contain at least one non-empty matcher"},
       {R"({""})", "1:1: vector selector must contain at least one non-empty matcher"},
       {R"(foo{__name__="bar"})", R"(1:1: metric name must not be set twice: "foo" or "bar")"},
       {R"({"foo", __name__="bar"})", R"(1:1: metric name must not be set twice: "foo" or "bar")"},
       {R"(1 + {__name__="a", "b"})", R"(1:5: metric name must not be set twice: "a" or "b")"}});
  EXPECT_EQ(error_of(R"(foo{a=~"("})").substr(0, 28), "1:5: error parsing regexp: m");
}

TEST(ParseErrors, RangesAndShifts) {
  check(
      {{"foo[bar]", "1:5: unexpected character in duration expression: 'b'"},
       {"foo[]",
        R"x(1:5: unexpected "]" in subquery or range selector, expected number, duration, step(), or range())x"},
       {"foo[5m 1]", R"(1:8: unexpected number "1" in subquery or range, expected ":" or "]")"},
       {"foo[5m:1m 1]", R"(1:11: unexpected number "1" in subquery selector, expected "]")"},
       {"foo[:1m]", "1:6: unexpected colon before duration in duration expression"},
       {"foo[5m:)]", "1:9: unexpected right parenthesis ')'"},
       {"foo[0s]", "1:5: duration must be greater than 0"},
       {"foo[-5m]", "1:5: duration must be greater than 0"},
       {"foo[5m:0]", "1:8: duration must be greater than 0"},
       {"foo[5m/0]", "1:7: division by zero"},
       {"foo[5m%0]", "1:7: modulo by zero"},
       {"foo[1e10]", "1:5: duration out of range"},
       {"foo offset NaN", "1:12: duration out of range"},
       {"foo[5m][5m]", "1:8: ranges only allowed for vector selectors"},
       {"sum(foo)[5m]", "1:9: ranges only allowed for vector selectors"},
       {"foo offset 5m [5m]", "1:15: no offset modifiers allowed before range"},
       {"foo @ 5 [5m]", "1:9: no @ modifiers allowed before range"},
       {"foo offset bar",
        R"x(1:12: unexpected identifier "bar" in offset, expected number, duration, step(), or range())x"},
       {"foo offset (1 + )",
        R"x(1:17: unexpected ")" in offset, expected number, duration, step(), or range())x"},
       {"foo offset 1m offset 2m", "1:1: offset may not be set multiple times"},
       {"1 offset 1m",
        "1:1: offset modifier must be preceded by an instant vector selector or range vector "
        "selector or a subquery"},
       {"foo @ bar", R"(1:7: unexpected identifier "bar" in @, expected timestamp)"},
       {"foo @ start", R"(1:12: unexpected end of input in @, expected timestamp)"},
       {"foo @ 1 @ 2", "1:1: @ <timestamp> may not be set multiple times"},
       {"foo @ NaN", "1:1: timestamp out of bounds for @ modifier: NaN"},
       {"foo @ -Inf", "1:1: timestamp out of bounds for @ modifier: -Inf"},
       {"(foo) @ 1",
        "1:1: @ modifier must be preceded by an instant vector selector or range vector selector "
        "or a subquery"},
       {"foo[5m] anchored smoothed",
        "1:1: anchored and smoothed modifiers cannot be used together"},
       {"foo[5m:] smoothed", "1:1: smoothed modifier is not supported for subqueries"},
       {"(foo) anchored", "1:1: anchored modifier not implemented"}});
}

TEST(ParseErrors, NumbersAndStrings) {
  check({{"1e", R"(1:1: bad number or duration syntax: "1e")"},
         {"1.2.3", R"(1:1: bad number or duration syntax: "1.2.")"},
         {"12a", R"(1:1: bad number or duration syntax: "12")"},
         {"5hs", R"(1:1: not a valid duration string: "5hs")"},
         {"0x", R"(1:1: error parsing number: strconv.ParseFloat: parsing "0x": invalid syntax)"},
         {"1e400",
          R"(1:1: error parsing number: strconv.ParseFloat: parsing "1e400": value out of range)"},
         {"\"foo", "1:1: unterminated quoted string"},
         {"\"a\nb\"", "1:1: unterminated quoted string"},
         {"`foo", "1:1: unterminated raw string"},
         {R"("\q")", "1:1: unknown escape sequence U+0071 'q'"},
         {R"("\x4")", R"(1:1: illegal character U+0022 '"' in escape sequence)"},
         {R"("\400")", "1:1: escape sequence is an invalid Unicode code point"},
         {R"("\ud800")", "1:1: escape sequence is an invalid Unicode code point"},
         {"\"\xff\"", "1:1: invalid UTF-8 rune"}});
}

TEST(ParseErrors, Calls) {
  check({{"foo(1)", R"(1:1: unknown function with name "foo")"},
         {"holt_winters(x[5m], 1, 1)", R"(1:1: unknown function with name "holt_winters")"},
         {"foo(1) bar", R"(1:1: unknown function with name "foo")"},
         {"abs(x,)", "1:6: trailing commas not allowed in function call args"},
         {"abs(x", "1:6: unclosed left parenthesis"},
         {"by(x)", R"x(1:3: unexpected "(")x"}});
}

TEST(ParseErrors, Operators) {
  check({{"a * on(x) group_left (b + c) d",
          R"x(1:25: unexpected <op:+> in grouping opts, expected "," or ")")x"},
         {"a * on b", R"x(1:8: unexpected identifier "b" in grouping opts, expected "(")x"},
         {"a + bool", "1:9: unexpected end of input"},
         {"a + fill (x) b", R"(1:11: unexpected identifier "x")"}});
}

}  // namespace
}  // namespace vagt::query
