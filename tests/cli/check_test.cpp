#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/fake_api.h"

namespace vagt {
namespace {

using test::Ran;
using test::run_tool;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckTest : public testing::Test {
 protected:
  CheckTest() : folder_(testing::TempDir() + "vagt_check_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~CheckTest() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  const std::string folder_;
};

constexpr const char* kGoodRules =
    "groups:\n- name: g\n  rules:\n  - alert: Hot\n    expr: temperature > 90\n    for: 5m\n  - "
    "record: a:b\n    expr: sum(up)\n";
constexpr const char* kTwice =
    "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up\n  - record: a:b\n    expr: up\n";

TEST_F(CheckTest, GoodAndBadRules) {
  const std::string good = write("good.yml", kGoodRules);
  Ran ran = run_tool({"check", "rules", good});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Checking " + good + "\n  SUCCESS: 2 rules found\n\n");
  const std::string bad =
      write("bad.yml", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up(\n");
  ran = run_tool({"check", "rules", bad, good});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("  FAILED:\n" + bad + ":5:"));
  EXPECT_THAT(ran.out, HasSubstr("SUCCESS: 2 rules found"));
  EXPECT_THAT(run_tool({"check", "rules", "nosuch.yml"}).err,
              HasSubstr("path 'nosuch.yml' does not exist"));
}

TEST_F(CheckTest, DuplicateRules) {
  const std::string file = write("twice.yml", kTwice);
  const Ran ran = run_tool({"check", "rules", file});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err,
            "  FAILED:\nlint error 1 duplicate rule(s) found.\nMetric: a:b\nLabel(s):\n"
            "Might cause inconsistency while recording expressions\n");
  EXPECT_EQ(run_tool({"check", "rules", "--lint-fatal", file}).code, 3);
  EXPECT_EQ(run_tool({"check", "rules", "--lint-fatal", "--lint=none", file}).code, 0);
  EXPECT_EQ(run_tool({"check", "rules", "--lint=nosuch", file}).code, 1);
}

constexpr const char* kScrape =
    "scrape_configs:\n- job_name: a\n  static_configs:\n  - targets: [x:1]\n";

TEST_F(CheckTest, ConfigSaysWhenNobodyIsPaged) {
  const std::string file = write("prometheus.yml", kScrape);
  Ran ran = run_tool({"check", "config", file});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Checking " + file + "\n SUCCESS: " + file +
                         " is valid prometheus config file syntax\n\n");
  EXPECT_THAT(ran.err, HasSubstr("nobody will be paged"));

  write("empty.yml", "route:\n  receiver: none\nreceivers:\n- name: none\n");
  const std::string pages_nobody =
      write("p2.yml", std::string(kScrape) + "notify_file: empty.yml\n");
  ran = run_tool({"check", "config", pages_nobody});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("nobody will be paged: no receiver"));

  write("am.yml",
        "route:\n  receiver: hook\nreceivers:\n- name: hook\n  webhook_configs:\n  - url: "
        "http://h/\n");
  ran = run_tool(
      {"check", "config", write("p3.yml", std::string(kScrape) + "notify_file: am.yml\n")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("nobody")));
}

TEST_F(CheckTest, ConfigOpensRuleFilesUnlessToldNotTo) {
  write("bad.yml", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up(\n");
  const std::string file = write("prometheus.yml", "rule_files: [bad.yml]\n");
  EXPECT_EQ(run_tool({"check", "config", file}).code, 1);
  EXPECT_EQ(run_tool({"check", "config", "--syntax-only", file}).code, 0);
  const std::string missing = write("missing.yml", "rule_files: [nosuch.yml]\n");
  const Ran ran = run_tool({"check", "config", missing});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("does not point to an existing file"));
}

TEST_F(CheckTest, ConfigErrorsHaveTheirPlace) {
  const std::string file = write("prometheus.yml", "global:\n  scrape_intervall: 1m\n");
  const Ran ran = run_tool({"check", "config", file});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr(file + ":2:3: "));
  EXPECT_THAT(ran.err, HasSubstr("scrape_interval"));
}

TEST_F(CheckTest, CredentialFilesMustBeThere) {
  const std::string file =
      write("prometheus.yml",
            "scrape_configs:\n- job_name: a\n  authorization:\n    credentials_file: nosuch\n");
  const Ran ran = run_tool({"check", "config", file});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("job a: error checking file"));
}

TEST_F(CheckTest, AlertmanagerConfig) {
  const std::string good = write("am.yml", "route:\n  receiver: r\nreceivers:\n- name: r\n");
  Ran ran = run_tool({"check-config", good});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(
      ran.out,
      "Checking '" + good +
          "'  SUCCESS\nFound:\n - global config\n - route\n - 0 inhibit rules\n - 1 receivers\n"
          " - 0 templates\n\n");
  const std::string bad = write("bad.yml", "route:\n  receiver: nosuch\nreceivers:\n- name: r\n");
  ran = run_tool({"check-config", bad});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out,
            "Checking '" + bad + "'  FAILED: undefined receiver \"nosuch\" used in route\n\n");
  EXPECT_THAT(ran.err, HasSubstr(bad + ":2:"));
  EXPECT_THAT(ran.err, HasSubstr("failed to validate 1 file(s)"));
}

TEST_F(CheckTest, RuleUnitTests) {
  write("good.yml", kGoodRules);
  const std::string head =
      "rule_files: [good.yml]\ntests:\n- name: hot\n  interval: 1m\n  input_series:\n"
      "  - series: temperature{gpu=\"1\"}\n    values: 95x10\n  promql_expr_test:\n"
      "  - expr: temperature\n    eval_time: 5m\n    exp_samples:\n"
      "    - labels: temperature{gpu=\"1\"}\n      value: ";
  const std::string passes = write("pass.yml", head + "95\n");
  Ran ran = run_tool({"test", "rules", passes});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Unit Testing:  " + passes + "\n  SUCCESS\n"));
  const std::string fails = write("fail.yml", head + "96\n");
  ran = run_tool({"test", "rules", "--junit", folder_ + "/report.xml", passes, fails});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("FAILED"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/report.xml"));
  EXPECT_EQ(run_tool({"test", "rules", "--run", "nosuch", fails}).code, 0);
  EXPECT_EQ(run_tool({"test", "rules", "nosuch.yml"}).code, 1);
}

TEST(PromqlFormat, IndentsOrRefuses) {
  EXPECT_EQ(run_tool({"promql", "format", "sum(rate(a[5m]))by(job)"}).out,
            "sum by (job) (rate(a[5m]))\n");
  EXPECT_THAT(run_tool({"promql", "format", "sum("}).err, HasSubstr("parse error"));
}

TEST(CheckMetrics, ParsesAndLints) {
  const auto check = [](const std::string& page, std::vector<std::string> flags = {}) {
    std::vector<std::string> arguments = {"check", "metrics"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_tool(arguments, page);
  };
  EXPECT_EQ(check("# HELP a_total x\n# TYPE a_total counter\na_total 1\n").code, 0);
  Ran ran = check("# TYPE a counter\na 1\n");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err, "a no help text\na counter metrics should have \"_total\" suffix\n");
  ran = check("a 1\nb{ 2\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("error while linting: text format parsing error"));
  ran = check(
      "# HELP wait x\n# TYPE wait histogram\nwait_bucket{le=\"1\"} 1\nwait_bucket{le=\"+Inf\"} 1\n"
      "wait_sum 1\nwait_count 1\n"
      "# HELP load x\n# TYPE load gauge\nload 1\n",
      {"--extended"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("wait      4              80.00%"));
  EXPECT_THAT(ran.out, HasSubstr("Total     5              100%"));
}

TEST(TemplateRender, MadeUpAlertsAndMistakes) {
  const auto render = [](const std::string& text, const std::string& type = "text") {
    return run_tool({"template", "render", "--template.glob=/nonexistent/*.tmpl",
                     "--template.text=" + text, "--template.type=" + type});
  };
  EXPECT_EQ(render("{{ .Status }} {{ len .Alerts }} {{ .CommonLabels.commonlabelkey1 }}").out,
            "alertstatus 2 commonlabelvalue1");
  EXPECT_EQ(render("<b>{{ \"<x>\" }}</b>", "html").out, "<b>&lt;x&gt;</b>");
  EXPECT_EQ(render("").code, 0);
  EXPECT_EQ(render("{{ nosuch }}").code, 1);
  EXPECT_EQ(render("x", "pdf").code, 1);
}

TEST_F(CheckTest, PromqlScripts) {
  const std::string good =
      write("good.test", "load 1m\n  a 1 2 3\n\neval instant at 2m a\n  a 3\n");
  const std::string bad = write("bad.test", "load 1m\n  a 1 2 3\n\neval instant at 2m a\n  a 4\n");
  Ran ran = run_tool({"test", "promql", good});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("1 passed, 0 failed, 0 skipped"));
  ran = run_tool({"test", "promql", good, bad});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("1 passed, 1 failed, 0 skipped"));
  ran = run_tool({"test", "promql", write("rubbish.test", "evaluate a\n")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out, HasSubstr("rubbish.test:1"));
}

}  // namespace
}  // namespace vagt
