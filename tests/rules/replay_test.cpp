// A replay finds what the running rules would have sent: both are run over the same series.
#include "rules/replay/replay.h"

#include <fmt/core.h>

#include <map>
#include <random>
#include <set>

#include "base/sample.h"
#include "tests/rules/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::IsOk;
using test::StatusIs;

constexpr Timestamp kStart = from_millis(1'780'000'003'217);

// Gauges that wander around 50, vanish with and without a marker, and start late; one counter.
void fill(tsdb::Store& store, unsigned seed, Duration length) {
  std::mt19937 random(seed);
  const auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
  const auto appender = store.appender();
  for (int i = 0; i < 6; ++i) {
    const bool counts = i == 5;
    const Labels labels = Labels::of({{"__name__", counts ? "errors_total" : "temp"},
                                      {"gpu", counts ? "0" : std::to_string(i)},
                                      {"host", i % 2 == 0 ? "a" : "b"}});
    const tsdb::SeriesRef ref = *appender->series(labels);
    double value = 50;
    int gone = i == 3 ? 40 : 0;
    const Duration offset(std::uniform_int_distribution<>(0, 14'999)(random));
    for (Timestamp t = kStart - minutes(20) + offset; t < kStart + length; t += seconds(15)) {
      value += counts ? (chance(0.02) ? 1 : 0) : std::normal_distribution<>(0, 4)(random);
      if (counts && chance(0.005)) value = 0;
      if (!counts) value = std::min(100.0, std::max(0.0, value));
      if (gone > 0) {
        --gone;
        continue;
      }
      if (chance(0.01)) {
        gone = std::uniform_int_distribution<>(1, 40)(random);
        if (chance(0.5)) {
          ASSERT_EQ(appender->append(ref, {t, stale_marker()}), Code::Ok);
          continue;
        }
      }
      const double stored = chance(0.002) ? normal_nan() : std::round(value);
      ASSERT_EQ(appender->append(ref, {t, stored}), Code::Ok);
    }
  }
  ASSERT_THAT(appender->commit(), IsOk());
}

// One line an alert: what it is, and when it began, fired and ended.
using Account = std::set<std::string>;

std::string time_text(const std::optional<Timestamp>& t) {
  return t ? std::to_string(to_millis(*t) - to_millis(kStart)) : "-";
}

std::string line_of(const Labels& labels, const Annotations& annotations, double value,
                    Timestamp active_at, Timestamp fired_at,
                    const std::optional<Timestamp>& resolved_at) {
  std::string text =
      fmt::format("{} value={} active={} fired={} resolved={}", labels.to_string(), value,
                  time_text(active_at), time_text(fired_at), time_text(resolved_at));
  for (const auto& [name, note] : annotations) text += fmt::format(" {}={}", name, note);
  return text;
}

struct Said {
  Alert first;
  std::optional<Timestamp> resolved_at;
};
using Messages = std::map<std::pair<Labels, Timestamp>, Said>;

void note_messages(std::vector<Alert> alerts, Messages& messages) {
  for (Alert& alert : alerts) {
    if (!alert.fired_at) continue;
    const auto entry = messages.try_emplace({alert.labels, *alert.fired_at}, Said{alert, {}});
    entry.first->second.resolved_at = alert.resolved_at;
  }
}

// A rule over its limit forgets its alerts without a message.
void note_forgotten(const std::vector<GroupView>& groups, Messages& messages) {
  for (const GroupView& group : groups) {
    for (const RuleView& rule : group.rules) {
      if (rule.health != RuleHealth::Bad || !rule.alerts.empty()) continue;
      for (auto& [key, said] : messages) {
        if (!said.resolved_at && key.first.get(kAlertName) == rule.name)
          said.resolved_at = rule.last_evaluation;
      }
    }
  }
}

Account run_live(const RuleFile& file, unsigned seed, Duration length,
                 const GlobalRuleSettings& settings) {
  const auto store = make_memory_store();
  fill(*store, seed, length);
  test::ManualClock clock(kStart);
  Heard heard;
  RuleManager::Options options;
  options.store = store.get(), options.clock = &clock, options.sink = &heard;
  RuleManager manager(std::move(options));
  EXPECT_THAT(manager.apply({file}, settings), IsOk());
  Messages messages;
  while (const auto next = manager.step(clock.now())) {
    note_messages(heard.take(), messages);
    note_forgotten(manager.view(), messages);
    if (*next > kStart + length) break;
    clock.advance(*next - clock.now());
  }
  Account account;
  for (const auto& [key, said] : messages) {
    account.insert(line_of(key.first, said.first.annotations, said.first.value,
                           said.first.active_at, key.second, said.resolved_at));
  }
  return account;
}

ReplayOptions replay_options(tsdb::Store& store, Duration length,
                             const GlobalRuleSettings& settings) {
  ReplayOptions options;
  options.history = &store;
  options.make_store = [] { return make_memory_store(); };
  options.from = kStart + Duration(1), options.to = kStart + length;
  options.settings = settings;
  return options;
}

Account account_of(const Replay& replay) {
  Account account;
  for (const ReplayedRule& rule : replay.rules) {
    for (const ReplayedAlert& alert : rule.alerts) {
      LabelsBuilder labels(alert.labels);
      for (const Label& label : replay.external_labels.items()) {
        if (!alert.labels.has(label.name)) labels.set(label.name, label.value);
      }
      account.insert(line_of(labels.build(), alert.annotations, alert.value, alert.active_at,
                             alert.fired_at, alert.resolved_at));
    }
  }
  return account;
}

GlobalRuleSettings settings() {
  GlobalRuleSettings settings;
  settings.evaluation_interval = seconds(20);
  settings.query_offset = seconds(5);
  settings.external_labels = Labels::of({{"site", "north"}});
  return settings;
}

void expect_equal(const char* text, size_t at_least, Duration piece = hours(24)) {
  const RuleFile file = rules_of(text);
  size_t alerts = 0;
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Duration length = hours(8);
    const Account live = run_live(file, seed, length, settings());
    const auto store = make_memory_store();
    fill(*store, seed, length);
    ReplayOptions options = replay_options(*store, length, settings());
    options.piece = piece;
    const auto replay = replay_rules({file}, options);
    ASSERT_THAT(replay.status(), IsOk());
    EXPECT_EQ(account_of(*replay), live) << "seed " << seed << "\n" << text;
    alerts += live.size();
  }
  EXPECT_GE(alerts, at_least) << text;
}

TEST(Replay, EqualsTheRunningRules) {
  expect_equal(
      "groups: [{name: g, rules: ["
      "{alert: Hot, expr: temp > 60, for: 3m, keep_firing_for: 2m,"
      " labels: {severity: page, where: '{{ $labels.host }}'},"
      " annotations: {s: '{{ $value }} on {{ $labels.gpu }} at {{ $externalLabels.site }}'}},"
      "{alert: Cold, expr: temp < 40},"
      "{alert: Kept, expr: temp > 58, keep_firing_for: 10m},"
      "{alert: Slow, expr: temp > 55, for: 15m}]}]",
      60);
}

TEST(Replay, EqualsTheRunningRulesWhereverItIsCut) {
  const char* kRules =
      "groups: [{name: g, rules: [{alert: Hot, expr: temp > 60, for: 3m, keep_firing_for: 5m},"
      "{record: host:temp:max, expr: max by (host) (temp)},"
      "{alert: HotHost, expr: 'host:temp:max > 65', for: 1m, keep_firing_for: 3m}]}]";
  expect_equal(kRules, 30, minutes(7));
  expect_equal(kRules, 30, seconds(20));
}

TEST(Replay, EqualsTheRunningRulesWhereLabelsFollowTheValue) {
  expect_equal(
      "groups: [{name: g, limit: 3, rules: ["
      "{alert: Hot, expr: temp > 60, for: 40s, labels: {band: '{{ printf \"%.0f\" $value }}'}},"
      "{alert: Many, expr: temp > 50, for: 1m}]}]",
      30);
  expect_equal(  // the same where groups run in lockstep
      "groups: [{name: g, limit: 3, rules: [{alert: Many, expr: temp > 50, for: 1m},"
      "{alert: Seen, expr: 'count(ALERTS{alertname=\"Many\"}) > 2'}]}]",
      10);
}

TEST(Replay, EqualsTheRunningRulesOverRangesAndAbsence) {
  expect_equal(
      "groups: [{name: g, interval: 30s, rules: ["
      "{alert: Errors, expr: 'increase(errors_total[5m]) > 0', keep_firing_for: 3m},"
      "{alert: Gone, expr: 'absent(temp{gpu=\"1\"})', for: 1m},"
      "{alert: Falling, expr: 'avg_over_time(temp[10m]) < temp offset 15m', for: 2m},"
      "{alert: Sub, expr: 'max_over_time(avg(temp)[10m:]) > 55', for: 2m},"
      "{alert: Pinned, expr: 'temp > avg_over_time(temp[10m] @ end()) + 3'},"
      "{alert: Scalar, expr: 'scalar(temp{gpu=\"0\"}) > bool 50'},"
      "{alert: Text, expr: temp > 75, annotations: {s: "
      "'{{ with query \"max(temp)\" }}{{ . | first | value }}{{ end }}'}}]}]",
      60);
}

TEST(Replay, EqualsTheRunningRulesWhereSomeEvaluationsFail) {
  // Two GPUs of one host at once are many on both sides; alerts stay then as they were.
  expect_equal(
      "groups: [{name: g, rules: ["
      "{alert: Joined, expr: '(temp > 60) * on (host) group_left () (temp{gpu=~\"[0-3]\"} > 55)',"
      " for: 1m, keep_firing_for: 1m},"
      "{alert: Twice, expr: 'label_replace(temp > 62, \"gpu\", \"x\", \"\", \"\")', for: 20s},"
      "{record: r, expr: 'label_replace(temp > 50, \"gpu\", \"x\", \"\", \"\")'},"
      "{alert: Recorded, expr: 'r > 55', for: 1m}]}]",
      20);
}

TEST(Replay, EqualsTheRunningRulesThatReadAlertsOrThemselves) {
  expect_equal(
      "groups: [{name: a, rules: ["
      "{alert: Hot, expr: temp > 60, for: 1m},"
      "{record: ever, expr: 'max(temp) > (max(ever) or vector(0)) or max(ever)'},"
      "{alert: Record, expr: ever > 80}]},"
      "{name: b, rules: ["
      "{alert: Several, expr: 'count by (host) (ALERTS{alertname=\"Hot\", alertstate=\"firing\"}) "
      "> 1', keep_firing_for: 1m}]},"
      "{name: c, rules: [{alert: Late, expr: later > 60}, {record: later, expr: max(temp)}]}]",
      30);
}

TEST(Replay, EqualsTheRunningRulesAcrossGroupsInAnyOrder) {
  expect_equal(
      "groups: [{name: z, rules: [{alert: HotHost, expr: 'host:temp:avg > 55', for: 1m}]},"
      "{name: y, interval: 45s, rules: [{record: 'host:temp:avg', expr: 'avg by (host) (temp)'}]}]",
      10);
}

TEST(Replay, KeepsHistoryOfARecordedSeriesOutOfTheReplay) {
  const auto store = make_memory_store();
  for (int i = -20; i < 100; ++i) {
    put(*store, Labels::of({{"__name__", "t"}}), kStart + i * seconds(15), 1);
    put(*store, Labels::of({{"__name__", "rec"}}), kStart + i * seconds(15), 99);
  }
  const RuleFile file = rules_of(
      "groups: [{name: g, rules: [{record: rec, expr: t > 5}, {alert: Old, expr: rec > 90},"
      "{alert: Seen, expr: 'rec offset 1m > 90'}]}]");
  const auto replay = replay_rules({file}, replay_options(*store, minutes(20), settings()));
  ASSERT_THAT(replay.status(), IsOk());
  EXPECT_TRUE(replay->rules[1].alerts.empty());
  ASSERT_EQ(replay->rules[2].alerts.size(), 1u);
  EXPECT_LE(*replay->rules[2].alerts[0].resolved_at, kStart + minutes(2));
}

TEST(Replay, CountsEvaluationsAndSaysWhyOneFailed) {
  const auto store = make_memory_store();
  fill(*store, 1, hours(1));
  const RuleFile file = rules_of(
      "groups: [{name: g, rules: [{alert: Bad, expr: 'temp * on (host) temp'},"
      "{alert: Good, expr: temp > 50}]}]");
  const auto replay = replay_rules({file}, replay_options(*store, hours(1), settings()));
  ASSERT_THAT(replay.status(), IsOk());
  EXPECT_EQ(replay->rules[0].evaluations, 180u);
  EXPECT_EQ(replay->rules[0].failures, 180u);
  EXPECT_NE(replay->rules[0].last_error.find("many-to-many"), std::string::npos);
  EXPECT_EQ(replay->rules[1].failures, 0u);
}

TEST(Replay, EndsAtItsLimits) {
  const auto store = make_memory_store();
  fill(*store, 1, hours(8));
  const RuleFile file = rules_of("groups: [{name: g, rules: [{alert: Good, expr: temp > 50}]}]");
  ReplayOptions options = replay_options(*store, hours(8), settings());
  options.max_alerts = 2, options.piece = minutes(30);
  EXPECT_THAT(replay_rules({file}, options).status(), StatusIs(Code::LimitExceeded));
  options.max_alerts = 1000;
  std::stop_source stop;
  options.progress = [&](double done) {
    if (done > 0.4) stop.request_stop();
  };
  EXPECT_THAT(replay_rules({file}, options, stop.get_token()).status(), StatusIs(Code::Cancelled));
  std::swap(options.from, options.to);
  EXPECT_THAT(replay_rules({file}, options).status(), StatusIs(Code::InvalidArgument));
}

TEST(Replay, CutsAQueryThatTakesTooManySamples) {
  const RuleFile file = rules_of(
      "groups: [{name: g, rules: [{alert: Hot, expr: temp > 60, for: 3m, keep_firing_for: 2m}]}]");
  const auto store = make_memory_store();
  fill(*store, 1, hours(8));
  ReplayOptions options = replay_options(*store, hours(8), settings());
  const auto whole = replay_rules({file}, options);
  ASSERT_THAT(whole.status(), IsOk());
  options.eval.max_samples = 500;
  const auto cut = replay_rules({file}, options);
  ASSERT_THAT(cut.status(), IsOk());
  EXPECT_EQ(account_of(*cut), account_of(*whole));
  EXPECT_EQ(cut->rules[0].failures, 0u);
}

}  // namespace
}  // namespace vagt::rules
