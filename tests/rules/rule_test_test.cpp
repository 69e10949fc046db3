#include "rules/rule_test.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rules/test_file.h"
#include "tests/rules/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using test::IsOk;
using test::StatusIs;

class RuleTestFile : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() /
           ("vagt_rule_test_" + std::to_string(getpid()) + "_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(dir_);
    options_.make_store = [] { return make_memory_store(); };
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  RuleTestResult run(const std::string& rules, const std::string& test) {
    std::ofstream(dir_ / "rules.yml") << rules;
    std::ofstream(dir_ / "test.yml") << test;
    return run_rule_test_file((dir_ / "test.yml").string(), options_);
  }
  static std::string text_of(const RuleTestResult& result) { return print_rule_test(result); }

  std::filesystem::path dir_;
  RuleTestOptions options_;
};

constexpr const char* kHot = R"(
groups:
  - name: g
    rules:
      - {alert: GpuHot, expr: gpu_temp_celsius > 90, for: 3m}
      - {alert: GpuHotSticky, expr: gpu_temp_celsius > 90, for: 3m, keep_firing_for: 3m}
)";

// One test group: the series, and when the alert fires (true) or not.
std::string timeline(const std::string& series, const std::string& values, const std::string& alert,
                     const std::string& labels,
                     const std::vector<std::pair<const char*, bool>>& expected) {
  std::string out =
      "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n  - input_series: [{series: '" +
      series + "', values: '" + values + "'}]\n    alert_rule_test:\n";
  for (const auto& [time, fires] : expected) {
    out += "      - {eval_time: " + std::string(time) + ", alertname: " + alert +
           ", exp_alerts: [" + (fires ? "{exp_labels: " + labels + "}" : "") + "]}\n";
  }
  return out;
}

TEST_F(RuleTestFile, AFailedScrapeRestartsFor) {
  const std::string series = "gpu_temp_celsius{gpu=\"3\"}";
  const RuleTestResult stale =
      run(kHot, timeline(series, "95 95 95 stale 95 95 95 95 95", "GpuHot", "{gpu: 3}",
                         {{"2m", false}, {"3m", false}, {"6m", false}, {"7m", true}}));
  EXPECT_TRUE(stale.ok()) << text_of(stale);
  const RuleTestResult gap = run(kHot, timeline(series, "95 95 95 _ 95 95 95 95 95", "GpuHot",
                                                "{gpu: 3}", {{"2m", false}, {"3m", true}}));
  EXPECT_TRUE(gap.ok()) << text_of(gap);
  const std::string flapping = "95 95 95 95 stale stale 95 95 stale stale stale stale stale";
  const RuleTestResult plain = run(kHot, timeline(series, flapping, "GpuHot", "{gpu: 3}",
                                                  {{"3m", true}, {"4m", false}, {"7m", false}}));
  EXPECT_TRUE(plain.ok()) << text_of(plain);
  const RuleTestResult sticky = run(
      kHot,
      timeline(
          series, flapping, "GpuHotSticky", "{gpu: 3}",
          {{"3m", true}, {"4m", true}, {"5m", true}, {"7m", true}, {"10m", true}, {"11m", false}}));
  EXPECT_TRUE(sticky.ok()) << text_of(sticky);
}

TEST_F(RuleTestFile, CountersExtrapolateAndReset) {
  const RuleTestResult result = run("groups: []", R"(
evaluation_interval: 1m
tests:
  - interval: 15s
    input_series: [{series: 'restarts_total{svc="trainer"}', values: '3 3 4 4 5 0 1 1'}]
    promql_expr_test:
      - {expr: 'increase(restarts_total[2m])', eval_time: 1m53s, exp_samples: [{labels: '{svc="trainer"}', value: 3.4285714285714284}]}
      - {expr: 'resets(restarts_total[2m])', eval_time: 1m53s, exp_samples: [{labels: '{svc="trainer"}', value: 1}]}
      - {expr: 'increase(restarts_total[2m]) == 3', eval_time: 1m53s}
)");
  EXPECT_TRUE(result.ok()) << text_of(result);
}

TEST_F(RuleTestFile, TheFirstEventOfACounterNeedsALookBack) {
  const std::string rules = R"(
groups:
  - name: g
    rules:
      - {alert: Never, expr: 'increase(xid_events_total[5m]) > 0'}
      - {alert: Seen, expr: '(xid_events_total > 0 unless xid_events_total offset 5m) or increase(xid_events_total[5m]) > 0'}
)";
  const std::string series = "xid_events_total{gpu=\"0\"}", values = "_ _ _ _ 1 1 1 1 1 1 1";
  const RuleTestResult never = run(rules, timeline(series, values, "Never", "{gpu: 0}",
                                                   {{"4m", false}, {"6m", false}, {"10m", false}}));
  EXPECT_TRUE(never.ok()) << text_of(never);
  const RuleTestResult seen =
      run(rules, timeline(series, values, "Seen", "{gpu: 0}",
                          {{"3m", false}, {"4m", true}, {"8m", true}, {"9m", false}}));
  EXPECT_TRUE(seen.ok()) << text_of(seen);
}

TEST_F(RuleTestFile, NanSensorsAndAbsence) {
  const RuleTestResult result = run(R"(
groups:
  - name: g
    rules:
      - {alert: Hot, expr: bmc_temp_celsius > 90}
      - {alert: Down, expr: up == 0, for: 5m}
)",
                                    R"(
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - input_series:
      - {series: 'bmc_temp_celsius{id="1"}', values: '40'}
      - {series: 'bmc_temp_celsius{id="2"}', values: 'NaN'}
      - {series: 'bmc_temp_celsius{id="3"}', values: '95'}
    alert_rule_test: [{eval_time: 0m, alertname: Hot, exp_alerts: [{exp_labels: {id: 3}}]}]
    promql_expr_test:
      - {expr: max(bmc_temp_celsius), eval_time: 0, exp_samples: [{labels: '{}', value: 95}]}
      - {expr: min(bmc_temp_celsius), eval_time: 0, exp_samples: [{value: 40}]}
      - {expr: avg(bmc_temp_celsius), eval_time: 0, exp_samples: [{value: .nan}]}
      - {expr: count(bmc_temp_celsius > 90), eval_time: 0, exp_samples: [{value: 1}]}
      - {expr: count(bmc_temp_celsius <= 90), eval_time: 0, exp_samples: [{value: 1}]}
      - {expr: avg(bmc_temp_celsius == bmc_temp_celsius), eval_time: 0, exp_samples: [{value: 67.5}]}
      - {expr: 'absent(bmc_temp_celsius{id="2"})', eval_time: 0}
  - input_series: [{series: 'up{job="gpu",instance="n1"}', values: '0x5'}]
    alert_rule_test:
      - {eval_time: 5m, alertname: Down, exp_alerts: [{exp_labels: {job: gpu, instance: n1}}]}
      - {eval_time: 9m, alertname: Down, exp_alerts: [{exp_labels: {job: gpu, instance: n1}}]}
      - {eval_time: 10m, alertname: Down}
  - input_series: [{series: 'x{job="a"}', values: '1x10'}, {series: 'up{job="gpu",instance="n1"}', values: '1x10'}]
    promql_expr_test:
      - {expr: 'count_over_time(x[5m])', eval_time: 10m, exp_samples: [{labels: '{job="a"}', value: 5}]}
      - {expr: 'rate(x[1m])', eval_time: 10m}
      - {expr: 'count_over_time(x[1m:1m])', eval_time: 10m, exp_samples: [{labels: '{job="a"}', value: 1}]}
      - {expr: 'absent(up{job="ipmi",instance=~"n.*"})', eval_time: 10m, exp_samples: [{labels: '{job="ipmi"}', value: 1}]}
      - {expr: 'absent(up{job="gpu",instance=~"n1|n2"})', eval_time: 10m}
      - {expr: 'count(up == 0)', eval_time: 10m}
      - {expr: 'count(up == 0) or vector(0)', eval_time: 10m, exp_samples: [{value: 0}]}
)");
  EXPECT_TRUE(result.ok()) << text_of(result);
}

TEST_F(RuleTestFile, SaysWhatDiffers) {
  const std::string test =
      timeline("gpu_temp_celsius{gpu=\"3\"}", "95x5", "GpuHot", "{gpu: 4}", {{"5m", true}});
  const RuleTestResult result = run(kHot, test);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(text_of(result).find(
                "    alertname: GpuHot, time: 5m, \n        exp:[\n            0:\n              "
                "Labels:{alertname=\"GpuHot\", gpu=\"4\"}"),
            std::string::npos)
      << text_of(result);
  EXPECT_NE(junit_report({result}).find("failures=\"1\""), std::string::npos);
  options_.diff = true;
  EXPECT_NE(text_of(run(kHot, test)).find("+ Labels:{alertname=\"GpuHot\", gpu=\"3\"}"),
            std::string::npos);
}

TEST_F(RuleTestFile, RunsOnlyChosenTestsAndRefusesUnknownFields) {
  const std::string test =
      "tests:\n  - name: one\n    promql_expr_test: [{expr: '1', exp_samples: [{value: 2}]}]\n"
      "  - name: two\n    promql_expr_test: [{expr: '1', exp_samples: [{value: 1}]}]\n";
  EXPECT_FALSE(run("groups: []", test).ok());
  options_.run = {"^two$"};
  EXPECT_TRUE(run("groups: []", test).ok());
  EXPECT_FALSE(run("groups: []", test + "extra: 1\n").ok());
  options_.ignore_unknown_fields = true;
  EXPECT_TRUE(run("groups: []", test + "extra: 1\n").ok());
}

TEST(SeriesNotation, Expands) {
  EXPECT_EQ(*parse_values("1+1x2 5 _ 3x1"), (SeriesValues{1, 2, 3, 5, std::nullopt, 3, 3}));
  EXPECT_EQ(parse_values("0+0x10")->size(), 11u);
  EXPECT_EQ(*parse_values("-2-1x1 1e2 _x2"),
            (SeriesValues{-2, -3, 100, std::nullopt, std::nullopt}));
  EXPECT_THAT(parse_values("{{count:1}}"), StatusIs(Code::InvalidArgument, "native histogram"));
  EXPECT_THAT(parse_values("1x999999999999"), StatusIs(Code::LimitExceeded));
  EXPECT_THAT(parse_values("abc"), StatusIs(Code::InvalidArgument));
  EXPECT_EQ(parse_series("up{a='b', \"c d\"=\"e\"}")->to_map(),
            (std::map<std::string, std::string>{{"__name__", "up"}, {"a", "b"}, {"c d", "e"}}));
  EXPECT_THAT(parse_series("up{a=\"b\""), StatusIs(Code::InvalidArgument, "1:9: parse error"));
  EXPECT_TRUE(parse_series("")->empty());
}

}  // namespace
}  // namespace vagt::rules
