#include "scrape/relabel.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using test::StatusIs;

std::string apply(const RelabelConfig& config, const Labels& labels) {
  const auto relabeler = Relabeler::compile({&config, 1});
  if (!relabeler) return relabeler.error().message();
  LabelsBuilder builder(labels);
  return relabeler->apply(builder) ? builder.build().to_string() : "dropped";
}

RelabelConfig rule(RelabelAction action, std::vector<std::string> source,
                   std::string regex = "(.*)", std::string target = "",
                   std::string replacement = "$1") {
  RelabelConfig config;
  config.action = action;
  config.source_labels = std::move(source);
  config.regex = std::move(regex);
  config.target_label = std::move(target);
  config.replacement = std::move(replacement);
  return config;
}

TEST(Relabel, Actions) {
  const Labels labels = Labels::of({{"a", "foo"}, {"b", "Bar"}, {"p_x", "1"}});
  EXPECT_EQ(apply(rule(RelabelAction::Replace, {"a", "b"}, "(.*);(.*)", "c", "$2-$1"), labels),
            R"({a="foo", b="Bar", c="Bar-foo", p_x="1"})");
  EXPECT_EQ(apply(rule(RelabelAction::Replace, {"a"}, "(.*)", "b", ""), labels),
            R"({a="foo", p_x="1"})");
  EXPECT_EQ(apply(rule(RelabelAction::Keep, {"a"}, "fo"), labels), "dropped");
  EXPECT_EQ(apply(rule(RelabelAction::Drop, {"a"}, "fo+"), labels), "dropped");
  EXPECT_EQ(apply(rule(RelabelAction::LabelMap, {}, "p_(.*)", "", "q_$1"), labels),
            R"({a="foo", b="Bar", p_x="1", q_x="1"})");
  EXPECT_EQ(apply(rule(RelabelAction::LabelDrop, {}, "p_.*"), labels), R"({a="foo", b="Bar"})");
  EXPECT_EQ(apply(rule(RelabelAction::LabelKeep, {}, "a"), labels), R"({a="foo"})");
  EXPECT_EQ(apply(rule(RelabelAction::Uppercase, {"a"}, "(.*)", "a"), labels),
            R"({a="FOO", b="Bar", p_x="1"})");
  EXPECT_EQ(apply(rule(RelabelAction::KeepEqual, {"a"}, "(.*)", "b"), labels), "dropped");
  EXPECT_EQ(apply(rule(RelabelAction::DropEqual, {"a"}, "(.*)", "b"), labels), labels.to_string());
}

TEST(Relabel, UnicodeCase) {
  EXPECT_EQ(
      apply(rule(RelabelAction::Lowercase, {"a"}, "(.*)", "a"), Labels::of({{"a", "ÄÖÜ ΔЖ日"}})),
      R"({a="äöü δж日"})");
}

TEST(Relabel, ValidationSpeaksPrometheus) {
  EXPECT_EQ(apply(rule(RelabelAction::HashMod, {"a"}, "(.*)", "b"), Labels()),
            "relabel configuration for hashmod requires non-zero modulus");
  EXPECT_EQ(apply(rule(RelabelAction::Replace, {"a"}), Labels()),
            "relabel configuration for replace action requires 'target_label' value");
  EXPECT_EQ(apply(rule(RelabelAction::LabelDrop, {"a"}), Labels()),
            "labeldrop action requires only 'regex', and no other fields");
  RelabelConfig legacy = rule(RelabelAction::Replace, {"a"}, "(.*)", "x.y");
  EXPECT_THAT(legacy.validate(NameScheme::Legacy),
              StatusIs(Code::InvalidArgument, "is invalid 'target_label'"));
  EXPECT_TRUE(legacy.validate(NameScheme::Utf8).ok());
  legacy.target_label = "x_${1}_$name";
  EXPECT_TRUE(legacy.validate(NameScheme::Legacy).ok());
}

TEST(Relabel, StepsShowEachRule) {
  const RelabelConfig rules[] = {rule(RelabelAction::Replace, {"a"}, "(.*)", "b"),
                                 rule(RelabelAction::Drop, {"b"}, "x"),
                                 rule(RelabelAction::LabelDrop, {}, "a")};
  const auto steps = Relabeler::compile(rules)->steps(Labels::of({{"a", "x"}}));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].second->to_string(), R"({a="x", b="x"})");
  EXPECT_FALSE(steps[1].second.has_value());
}

}  // namespace
}  // namespace vagt::scrape
