// Every kind of finding: a rule that has it, one close by that has not.
#include "rules/lint/linter.h"

#include <gmock/gmock.h>

#include "rules/lint/bounds.h"
#include "rules/lint/duplicates.h"
#include "rules/rule_file.h"

namespace vagt::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<LintNote> notes_of(const std::string& text, const LintSettings& settings = {}) {
  const RuleFileResult result = parse_rule_file(text, "r.yml");
  for (const Status& error : result.errors) ADD_FAILURE() << error.message();
  return lint_rule_file(result.file, text, settings);
}

// An alert that is complete but for `expr` and `more`.
std::string alert(const std::string& expr, const std::string& more = "") {
  return "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: |-\n      " + expr +
         "\n    labels: {severity: warning}\n    annotations: {summary: s, runbook_url: u}\n" +
         more;
}

std::vector<std::string> codes_of(const std::string& text, const LintSettings& settings = {}) {
  std::vector<std::string> codes;
  for (const LintNote& note : notes_of(text, settings)) codes.emplace_back(note.code);
  return codes;
}

struct Case {
  const char* code;
  std::vector<std::string> bad, good;
};

// `for` and the like follow after a line end.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"rate-on-gauge",
       {"increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0", "rate(container_start_time_seconds[15m]) > 3",
        "rate(node_load1[5m]) > 1", "sum(irate(DCGM_FI_DEV_GPU_TEMP[5m])) > 1"},
       {"increase(node_vmstat_oom_kill[5m]) > 0", "rate(a_total[5m]) > 1",
        "increase(nobody_knows[5m]) > 1", "changes(container_start_time_seconds[15m]) > 3"}},
      {"delta-on-counter",
       {"delta(a_total[5m]) > 1", "deriv(node_vmstat_oom_kill[5m]) > 1"},
       {"delta(node_load1[5m]) > 1", "deriv(pending_count[5m]) > 1"}},
      {"absent-with-regex",
       {"absent(up{job=~\"a|b\"})", "absent_over_time(up{job=~\"a|b\"}[5m])"},
       {"absent(up{job=\"a\"})", "absent(up{job!~\"a|b\"})"}},
      {"never-true",
       {"DCGM_FI_DEV_GPU_UTIL > 100", "count(up) == 0", "up == 2", "a_total < 0",
        "avg_over_time(up[5m]) > 1", "1 - up < 0", "100 * up > 100", "rate(a_total[5m]) < 0"},
       {"DCGM_FI_DEV_GPU_UTIL >= 100", "(count(up) or vector(0)) == 0", "up == 0", "sum(up) > 5",
        "100 * up > 99", "nobody_knows < 0", "unknown / up > 2"}},
      {"always-true",
       {"up >= 0", "a_total >= 0", "DCGM_FI_DEV_GPU_UTIL <= 100", "x > 5 or up >= 0"},
       {"up > 0", "x > 5 and a_total >= 0", "x > bool 5"}},
      {"equality-on-rate",
       {"increase(a_total[5m]) == 3", "sum(delta(node_load1[5m])) != 2"},
       {"increase(a_total[5m]) == 0", "changes(x[5m]) == 3"}},
      {"counter-without-rate",
       {"a_total > 5", "sum(a_total) >= 1"},
       {"rate(a_total[5m]) > 5", "a_total > 0 unless a_total offset 10m", "a_total < 5",
        "a_total - a_total offset 1h > 5"}},
      {"threshold-of-one-product",
       {"DCGM_FI_DEV_GPU_TEMP > 87", "max by (gpu) (DCGM_FI_DEV_POWER_USAGE) > 590"},
       {"DCGM_FI_DEV_GPU_TEMP > DCGM_FI_DEV_SLOWDOWN_TEMP - 3",
        "node_hwmon_temp_celsius > 90 and DCGM_FI_DEV_GPU_TEMP < 200"}},
      {"bound-without-point",
       {"rate(x_bucket{le=\"1\"}[5m]) > 5", "x{quantile=\"1\"} > 5"},
       {"rate(x_bucket{le=\"1.0\"}[5m]) > 5", "rate(x_bucket{le=\"+Inf\"}[5m]) > 5"}},
      {"quantile-of-every-series",
       {"histogram_quantile(0.9, rate(x_seconds_bucket[5m])) > 5"},
       {"histogram_quantile(0.9, sum by (le) (rate(x_seconds_bucket[5m]))) > 5",
        "histogram_quantile(0.9, recorded:x) > 5"}},
      {"quantile-without-le",
       {"histogram_quantile(0.9, sum by (job) (rate(x_seconds_bucket[5m]))) > 5",
        "histogram_quantile(0.9, sum without (le) (rate(x_seconds_bucket[5m]))) > 5"},
       {"histogram_quantile(0.9, sum without (pod) (rate(x_seconds_bucket[5m]))) > 5"}},
      {"join-cannot-match",
       {"sum by (instance) (x) / sum by (job) (y) > 5", "sum(x) and on (instance) y > 5",
        "x > 5 unless on (gpu) max by (instance) (y)",
        "sum by (a) (x) * ignoring (a) sum by (b) (y) > 5"},
       {"sum by (instance) (x) / sum by (instance) (y) > 5", "x > 5 and on (instance) y > 5",
        "sum by (a, b) (x) * ignoring (b) sum by (a) (y) > 5",
        "sum by (a) (x) > 5 or sum by (b) (y) > 5",
        "sum by (a, b) (x) / on (a) group_left () sum by (a) (y) > 5"}},
      {"range-under-four-scrapes",
       {"rate(a_total[30s]) > 5"},
       {"rate(a_total[1m]) > 5", "avg_over_time(x[30s]) > 5"}},
      {"for-under-interval", {"x > 5\n    for: 10s"}, {"x > 5\n    for: 1m", "x > 5"}},
      {"for-filters-nothing",
       {"rate(a_total[5m]) > 0\n    for: 1m",
        "increase(a_total[5m]) > 0 or increase(b_total[9m]) > 0\n    for: 1m"},
       {"rate(a_total[5m]) > 0", "rate(a_total[5m]) > 0\n    for: 5m",
        "rate(a_total[5m]) > 1\n    for: 1m", "rate(a_total[5m]) > 0 or x > 5\n    for: 1m"}},
      {"first-increment-invisible",
       {"increase(http_requests_total{code=~\"5..\"}[5m]) > 0",
        "increase(vagt_gpu_nvswitch_sxid_errors_total[5m]) > 0"},
       {"increase(http_requests_total{code=~\"5..\"}[5m]) > 3", "increase(a_total[5m]) > 0",
        "increase(a_total{code=\"5\"}[5m]) > 0 or (a_total{code=\"5\"} unless a_total{code=\"5\"} "
        "offset "
        "5m)"}},
      {"one-sample-resets-for",
       {"DCGM_FI_DEV_GPU_UTIL < 5\n    for: 10m", "vllm:num_requests_waiting > 10\n    for: 5m"},
       {"DCGM_FI_DEV_GPU_UTIL < 5\n    for: 1m",
        "max_over_time(DCGM_FI_DEV_GPU_UTIL[10m]) < 5\n    for: 10m"}},
      {"share-of-memory",
       {"node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.05"},
       {"node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.05 and "
        "node_memory_MemAvailable_bytes < 16 * 2 ^ 30",
        "node_filesystem_avail_bytes / node_filesystem_size_bytes < 0.05"}},
      {"cleared-by-reset",
       {"increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[10m]) > 0"},
       {"increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[10m]) > 0 or "
        "increase(DCGM_FI_DEV_ECC_DBE_AGG_TOTAL[10m]) "
        "> 0"}},
      {"off-by-default",
       {"rate(DCGM_FI_DEV_THERMAL_VIOLATION[5m]) > 1"},
       {"rate(DCGM_FI_DEV_THERMAL_VIOLATION[5m]) > 1 or rate(vagt_gpu_throttle_seconds_total[5m]) "
        "> 0.1"}},
      {"allocated-is-not-busy",
       {"DCGM_FI_DEV_GPU_UTIL < 5 and DCGM_FI_DEV_FB_USED > 1024"},
       {"DCGM_FI_DEV_GPU_UTIL < 5 and DCGM_FI_DEV_FB_USED > 1024 unless on (gpu) "
        "vagt_gpu_processes > 0"}},
      {"latency-of-whole-answer",
       {"histogram_quantile(0.9, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[5m]))) "
        "> 10"},
       {"histogram_quantile(0.9, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m]))) "
        "> 10"}},
  };
  return all;
}

TEST(Lint, EachFindingOnTheRulesThatHaveItAndOnNoOthers) {
  LintSettings settings;
  settings.evaluation_interval = std::chrono::seconds(30);
  for (const Case& c : cases()) {
    for (const std::string& expr : c.bad) {
      EXPECT_THAT(codes_of(alert(expr), settings), ::testing::Contains(std::string(c.code)))
          << expr;
    }
    for (const std::string& expr : c.good) {
      EXPECT_THAT(codes_of(alert(expr), settings),
                  ::testing::Not(::testing::Contains(std::string(c.code))))
          << expr;
    }
  }
}

TEST(Lint, EveryCodeHasACaseAndEveryCaseACode) {
  std::set<std::string_view> tested = {
      "no-severity", "no-summary", "no-runbook", "value-in-label", "template-prints-nothing",
      "no-data"};  // cli's
  for (const Case& c : cases()) tested.insert(c.code);
  std::set<std::string_view> known;
  for (const LintCode& code : lint_codes()) known.insert(code.code);
  EXPECT_EQ(tested, known);
}

TEST(Lint, WhatWhoeverIsWokenNeeds) {
  EXPECT_THAT(codes_of("groups: [{name: g, rules: [{alert: A, expr: x > 5}]}]"),
              ElementsAre("no-severity", "no-summary", "no-runbook"));
  EXPECT_THAT(codes_of("groups: [{name: g, rules: [{record: a, expr: sum(x)}]}]"), IsEmpty());
}

TEST(Lint, TemplatesThatPrintNothing) {
  const auto notes = notes_of(
      "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: sum by (instance) (x) > 5\n"
      "    labels: {severity: warning, worst: '{{ $value }}'}\n"
      "    annotations: {summary: 'GPU {{ $labels.gpu }} of {{ $labels.instance }}', runbook: "
      "u}\n");
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].code, "value-in-label");
  EXPECT_EQ(notes[1].code, "template-prints-nothing");
  EXPECT_THAT(notes[1].text, HasSubstr("summary names the label gpu"));
  EXPECT_EQ(notes[1].where.line, 4);
  EXPECT_EQ(notes[1].file, "r.yml");
}

TEST(Lint, LabelsFollowTheOperators) {
  const auto prints = [](const std::string& expr, const std::string& label) {
    const auto codes = codes_of(
        "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: " + expr +
        "\n    labels: {severity: warning}\n    annotations: {runbook: u, summary: '{{ $labels." +
        label + " }}'}\n");
    return std::find(codes.begin(), codes.end(), "template-prints-nothing") == codes.end();
  };
  EXPECT_TRUE(prints("x > 5", "anything"));
  EXPECT_FALSE(prints("sum without (gpu) (x) > 5", "gpu"));
  EXPECT_TRUE(prints("sum without (gpu) (x) > 5", "instance"));
  EXPECT_TRUE(prints("label_replace(sum(x), 'gpu', '$1', 'a', '(.*)') > 5", "gpu"));
  EXPECT_TRUE(prints("sum by (a) (x) > 5 or sum by (b) (y) > 5", "b"));
  EXPECT_FALSE(prints("sum by (a) (x) > 5 and on (a) y", "b"));
  EXPECT_TRUE(prints("absent(up{job='a'})", "job"));
  EXPECT_FALSE(prints("absent(up{job='a'})", "instance"));
  EXPECT_TRUE(prints("x * on (a) group_left (b) y > 5", "c"));
  EXPECT_FALSE(prints("x * on (a) y > 5", "c"));
  EXPECT_FALSE(prints("vector(1) > 0.5", "c"));
  EXPECT_TRUE(prints("count_values('version', x) > 5", "version"));
  EXPECT_TRUE(prints("topk(3, x) > 5", "c"));
}

TEST(Lint, ACommentSilencesOneCodeForOneRule) {
  const std::string two =
      "groups:\n- name: g\n  rules:\n"
      "  # why: lint: allow counter-without-rate, never-true (they are meant)\n"
      "  - alert: A\n    expr: a_total > 5\n    labels: {severity: warning}\n"
      "    annotations: {summary: s, runbook: u}\n"
      "  - alert: B\n    expr: a_total > 5 # lint: allow rate-on-gauge\n    labels: {severity: "
      "warning}\n"
      "    annotations: {summary: s, runbook: u}\n";
  const auto notes = notes_of(two);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].rule, "B");
  EXPECT_THAT(notes_of("# lint: allow counter-without-rate\n" + two), IsEmpty());
}

TEST(Lint, TypesAServerNamesWin) {
  LintSettings settings;
  settings.catalog = MetricCatalog({{"jobs_done", "gauge"}, {"restarts", "counter"}});
  EXPECT_THAT(codes_of(alert("rate(jobs_done[5m]) > 1"), settings), ElementsAre("rate-on-gauge"));
  EXPECT_THAT(codes_of(alert("restarts > 1"), settings), ElementsAre("counter-without-rate"));
  EXPECT_THAT(codes_of(alert("rate(jobs_done[5m]) > 1 or restarts > 1")), IsEmpty());
}

TEST(Lint, VerdictsOfIntervals) {
  using query::BinaryOp;
  EXPECT_EQ(judge(BinaryOp::Gt, {0, 1}, {1, 1}), Verdict::Never);
  EXPECT_EQ(judge(BinaryOp::Ge, {0, 1}, {1, 1}), Verdict::Open);
  EXPECT_EQ(judge(BinaryOp::Lt, {0, 1}, {0, 0}), Verdict::Never);
  EXPECT_EQ(judge(BinaryOp::Le, {0, 1}, {1, 1}), Verdict::Always);
  EXPECT_EQ(judge(BinaryOp::Eq, {0, 1}, {2, 2}), Verdict::Never);
  EXPECT_EQ(judge(BinaryOp::Ne, {0, 1}, {2, 2}), Verdict::Always);
  EXPECT_EQ(judge(BinaryOp::Gt, {}, {1, 1}), Verdict::Open);
}

TEST(Lint, DuplicatesInPromtoolsWords) {
  const RuleFileResult result = parse_rule_file(R"(groups:
  - name: g
    rules:
      - {record: a, expr: up, labels: {x: "1"}}
      - {record: a, expr: down, labels: {x: "1"}}
      - {record: a, expr: down, labels: {x: "2"}}
)",
                                                "r.yml");
  ASSERT_TRUE(result.errors.empty());
  EXPECT_EQ(duplicate_rules(result.file.groups),
            "1 duplicate rule(s) found.\nMetric: a\nLabel(s):\n\tx: 1\nMight cause inconsistency "
            "while recording expressions");
  EXPECT_EQ(duplicate_rules({}), "");
}

}  // namespace
}  // namespace vagt::rules
