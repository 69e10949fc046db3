#include "base/matcher.h"

#include "tests/support/status_matchers.h"

namespace vagt {
namespace {

TEST(Matcher, EachOperator) {
  const Labels labels = Labels::of({{"job", "dcgm"}});
  EXPECT_TRUE(Matcher::equal("job", "dcgm").matches(labels));
  EXPECT_FALSE(Matcher::make(MatchOp::NotEqual, "job", "dcgm").value().matches(labels));
  EXPECT_TRUE(Matcher::make(MatchOp::Regex, "job", "dc.*").value().matches(labels));
  EXPECT_TRUE(Matcher::make(MatchOp::NotRegex, "job", "d").value().matches(labels));  // anchored
}

TEST(Matcher, AnAbsentLabelIsEmpty) {
  EXPECT_TRUE(Matcher::equal("gpu", "").matches(Labels()));
  EXPECT_TRUE(Matcher::make(MatchOp::Regex, "gpu", ".*").value().matches_empty());
  EXPECT_FALSE(Matcher::make(MatchOp::Regex, "gpu", ".+").value().matches_empty());
}

TEST(Matcher, BadRegexIsAnError) {
  EXPECT_THAT(Matcher::make(MatchOp::Regex, "a", "("),
              test::StatusIs(Code::InvalidArgument, "error parsing regexp"));
}

TEST(Matcher, Prints) {
  EXPECT_EQ(Matcher::make(MatchOp::NotRegex, "a", "b|\"").value().to_string(), "a!~\"b|\\\"\"");
  EXPECT_EQ(Matcher::equal("k8s.pod", "x").to_string(), "\"k8s.pod\"=\"x\"");
}

}  // namespace
}  // namespace vagt
