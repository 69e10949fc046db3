#include "base/regex.h"

#include "base/labels.h"

#include "tests/support/status_matchers.h"

namespace vagt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Regex compile(std::string_view pattern, Regex::Anchor anchor = Regex::Anchor::Both) {
  return Regex::compile(pattern, anchor).value();
}

TEST(Regex, IsAnchoredAndDotMatchesNewline) {
  EXPECT_TRUE(compile("first.+second").matches("first\nsecond"));
  EXPECT_FALSE(compile("b").matches("abc"));
  EXPECT_FALSE(compile("a|b").matches("ab"));
  EXPECT_TRUE(compile("").matches(""));
  EXPECT_FALSE(compile("").matches("x"));
}

TEST(Regex, ParenthesesCannotEscapeTheAnchor) {
  EXPECT_THAT(Regex::compile("a)(b"), test::StatusIs(Code::InvalidArgument));
  EXPECT_THAT(Regex::compile("(a"), test::StatusIs(Code::InvalidArgument, "missing closing )"));
}

TEST(Regex, ExplodingPatternIsRefused) {
  EXPECT_THAT(Regex::compile("((a{100}){100}){100}"), test::StatusIs(Code::InvalidArgument));
}

TEST(Regex, LiteralAlternationsAreSeen) {
  EXPECT_THAT(compile("a|b\\.c|").literals(), ElementsAre("a", "b.c", ""));
  EXPECT_THAT(compile("(?:x|y)").literals(), ElementsAre("x", "y"));
  EXPECT_THAT(compile("a.*").literals(), IsEmpty());
  EXPECT_TRUE(compile("a|b\\.c|").matches(""));
  EXPECT_TRUE(compile("a|b\\.c|").matches("b.c"));
  EXPECT_FALSE(compile("a|b\\.c|").matches("bxc"));
}

TEST(Regex, PrefixStopsBeforeAQuantifier) {
  EXPECT_EQ(compile("gpu-.*").prefix(), "gpu-");
  EXPECT_EQ(compile("gpus?").prefix(), "gpu");
  EXPECT_EQ(compile("é*x").prefix(), "");
  EXPECT_EQ(compile("a+").prefix(), "a");
  EXPECT_EQ(compile("ab|cd.*").prefix(), "");
  EXPECT_TRUE(compile("gpus?").matches("gpu"));
}

TEST(Regex, AnErrorShowsTheBeginningOfALongPattern) {
  std::string pattern = "(";
  while (pattern.size() < 1'000'000) pattern += "é|";
  const auto refused = Regex::compile(pattern);
  ASSERT_FALSE(refused.ok());
  EXPECT_LT(refused.error().message().size(), 400u);
  EXPECT_TRUE(
      refused.error().message().starts_with("error parsing regexp: missing closing ): `(é|"));
  EXPECT_TRUE(is_valid_utf8(refused.error().message()));
}

TEST(Regex, ExpandsGroupsAsGoDoes) {
  const Regex regex = compile("(?P<host>[^:]+):(\\d+)");
  const auto groups = regex.groups("node1:9100").value();
  std::string out;
  regex.expand("$1/${2}/$host/${host}x/$$/$9/$1x/$/${1", groups, out);
  EXPECT_EQ(out,
            "node1/9100/node1/node1x/$//"
            "/$/${1");
}

TEST(Regex, ReplacesAll) {
  EXPECT_EQ(compile("[aeiou]", Regex::Anchor::None).replace_all("alert", "<$0>"), "<a>l<e>rt");
  EXPECT_EQ(compile("", Regex::Anchor::None).replace_all("ab", "-"), "-a-b-");
  EXPECT_EQ(compile("a*", Regex::Anchor::None).replace_all("baac", "-"), "-b-c-");
}

}  // namespace
}  // namespace vagt
