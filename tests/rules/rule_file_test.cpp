#include "rules/rule_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using test::IsOk;

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> out;
  for (const Status& error : parse_rule_file(text, "r.yml").errors) out.push_back(error.message());
  return out;
}

constexpr const char* kFull = R"yaml(
groups:
  - name: g
    interval: 30s
    query_offset: 1m
    limit: 10
    labels: {team: gpu, severity: low}
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
        labels: {severity: high}
      - alert: Down
        expr: up == 0
        for: 5m
        keep_firing_for: 10m
        annotations: {summary: "{{ $labels.instance }} is down ({{ $value | humanize }})"
}
  - name: empty
)yaml";

TEST(RuleFile, ReadsEverything) {
  const RuleFileResult result = parse_rule_file(kFull, "r.yml");
  ASSERT_TRUE(result.errors.empty()) << result.errors[0].message();
  ASSERT_EQ(result.file.groups.size(), 2u);
  const RuleGroup& group = result.file.groups[0];
  EXPECT_EQ(group.interval, Duration(30000));
  EXPECT_EQ(group.query_offset, Duration(60000));
  EXPECT_EQ(group.limit, 10u);
  ASSERT_EQ(group.rules.size(), 2u);
  const auto& record = std::get<RecordRule>(group.rules[0]);
  EXPECT_EQ(record.labels, (TextMap{{"severity", "high"}, {"team", "gpu"}}));
  const auto& alert = std::get<AlertRule>(group.rules[1]);
  EXPECT_EQ(alert.hold_for, std::chrono::minutes(5));
  EXPECT_EQ(alert.keep_firing_for, std::chrono::minutes(10));
  EXPECT_EQ(alert.labels, (TextMap{{"severity", "low"}, {"team", "gpu"}}));
  EXPECT_EQ(alert.where.line, 12);
}

TEST(RuleFile, NamesEveryFaultWithItsPlace) {
  const std::vector<std::string> errors = errors_of(R"(groups:
  - name: g
    rules:
      - alert: A
        expr: up ==
      - alert: B
        expr: up
        annotations:
          summary: "{{ $label.x }}"
      - record: "bad{name}"
        expr: up
        for: 1m
      - expr: up
      - alert: C
        record: c
        expr: up
  - name: g
)");
  ASSERT_EQ(errors.size(), 7u);
  EXPECT_NE(
      errors[0].find("r.yml:5:15: group \"g\", rule 1, \"A\": could not parse expression: 1:"),
      std::string::npos)
      << errors[0];
  EXPECT_EQ(errors[1],
            "r.yml:9:20: group \"g\", rule 2, \"B\": annotation \"summary\": template: "
            "__alert_B:1:3: undefined variable "
            "\"$label\"");
  EXPECT_NE(errors[2].find("invalid field 'for' in recording rule"), std::string::npos);
  EXPECT_NE(errors[3].find("braces present in the recording rule name"), std::string::npos);
  EXPECT_NE(errors[4].find("one of 'record' or 'alert' must be set"), std::string::npos);
  EXPECT_NE(errors[5].find("only one of 'record' and 'alert' must be set"), std::string::npos);
  EXPECT_NE(errors[6].find("groupname: \"g\" is repeated in the same file"), std::string::npos);
}

TEST(RuleFile, IsStrictAboutKeys) {
  const std::string text = "groups:\n  - name: g\n    namespace: x\n    rules: []\n";
  const std::vector<std::string> errors = errors_of(text);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("r.yml:3:5"), std::string::npos);
  EXPECT_NE(errors[0].find("field namespace not found in type rulefmt.RuleGroup"),
            std::string::npos);
  RuleFileOptions options;
  options.ignore_unknown_fields = true;
  EXPECT_TRUE(parse_rule_file(text, "r.yml", options).errors.empty());
  EXPECT_EQ(errors_of("[]").size(), 1u);
  EXPECT_EQ(errors_of("groups: 5").size(), 1u);
  EXPECT_TRUE(errors_of("").empty());
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(RuleFile, TheShippedDocumentedRulesLoad) {
  const std::string path = std::string(VAGT_SOURCE_DIR) + "/rules/library/documented.rules.yml";
  const Result<RuleFile> file = load_rule_file(path);
  ASSERT_THAT(file, IsOk());
  size_t rules = 0;
  for (const RuleGroup& group : file->groups) rules += group.rules.size();
  EXPECT_EQ(rules, 11u);
  const char* shared = std::getenv("VAGT_SHARED");
  const std::string root = shared != nullptr ? shared : std::string(VAGT_SOURCE_DIR) + "/../shared";
  const std::string original = root + "/seed-config/rules/documented.yml";
  if (!std::filesystem::exists(original))
    GTEST_SKIP() << "no " << original << ": the words were not compared";
  EXPECT_EQ(read(path), read(original));
}

}  // namespace
}  // namespace vagt::rules
