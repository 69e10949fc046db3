#include "rules/manager.h"

#include <thread>

#include "base/sample.h"
#include "tests/rules/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using std::chrono::minutes;
using test::IsOk;
using test::StatusIs;

constexpr const char* kHot =
    "groups: [{name: g, rules: [{alert: Hot, expr: t > 90, for: 3m, keep_firing_for: 4m, "
    "annotations: {s: '{{ $value }}'}}]}]";

class RuleManagerTest : public ::testing::Test {
 protected:
  // A new process on the same disk.
  void boot(const std::string& rules = kHot) {
    manager_.reset();
    RuleManager::Options options;
    options.store = store_.get();
    options.clock = &clock_;
    options.kv = &kv_;
    options.sink = &heard_;
    options.registry = &registry_;
    manager_ = std::make_unique<RuleManager>(std::move(options));
    ASSERT_THAT(manager_->apply({rules_of(rules)}), IsOk());
  }
  void advance(Duration by, double value) {
    for (Duration done{}; done < by; done += minutes(1)) {
      clock_.advance(minutes(1));
      put(*store_, Labels::of({{"__name__", "t"}, {"gpu", "3"}}), clock_.now() - Duration(60'000),
          value);
      put(*store_, Labels::of({{"__name__", "t"}, {"gpu", "3"}}), clock_.now() - Duration(1),
          value);
      manager_->step(clock_.now());
    }
  }
  AlertView only_alert() const {
    const std::vector<GroupView> groups = manager_->view();
    EXPECT_EQ(groups.at(0).rules.at(0).alerts.size(), 1u);
    return groups[0].rules[0].alerts.empty() ? AlertView{} : groups[0].rules[0].alerts[0];
  }

  test::ManualClock clock_;
  std::unique_ptr<tsdb::Store> store_ = make_memory_store();
  MapKv kv_;
  Heard heard_;
  base::Registry registry_;
  std::unique_ptr<RuleManager> manager_;
};

TEST_F(RuleManagerTest, StepsOncePerSlotAndCountsMissedOnes) {
  boot();
  const auto next = manager_->step(clock_.now());
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(*next, clock_.now());
  EXPECT_LE(*next - clock_.now(), minutes(1));
  clock_.advance(minutes(10));
  const auto later = manager_->step(clock_.now());
  EXPECT_EQ((*later - *next) / minutes(1), 10);
  EXPECT_EQ(manager_->view()[0].last_evaluation, *later - minutes(1));
  const std::string page = registry_.render();
  EXPECT_NE(page.find("prometheus_rule_group_iterations_missed_total{rule_group=\"r.yml;g\"} 9"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("prometheus_rule_evaluations_total{rule_group=\"r.yml;g\"} 1"),
            std::string::npos);
}

TEST_F(RuleManagerTest, SubqueriesWithoutAStepTakeTheGlobalInterval) {
  boot();
  GlobalRuleSettings settings;
  settings.evaluation_interval = std::chrono::seconds(10);
  const char* kCounting =
      "groups: [{name: g, interval: 1m, rules: [{record: r, expr: "
      "'count_over_time(vector(1)[1m:])'}"
      "]}]";
  ASSERT_THAT(manager_->apply({rules_of(kCounting)}, settings), IsOk());
  clock_.advance(minutes(1));
  manager_->step(clock_.now());
  const auto querier = store_->querier(clock_.now() - minutes(2), clock_.now());
  const Matcher matchers[] = {Matcher::equal("__name__", "r")};
  const auto cursor =
      querier->select(matchers, {clock_.now() - minutes(2), clock_.now(), "series"});
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  cursor->read(columns, 10);
  EXPECT_EQ(columns.v, std::vector<double>{6});
}

TEST_F(RuleManagerTest, RestartWhilePendingKeepsTheClock) {
  boot();
  advance(minutes(2), 95);
  const AlertView before = only_alert();
  EXPECT_EQ(before.state, AlertState::Pending);
  boot();
  EXPECT_EQ(only_alert().active_at, before.active_at);
  advance(minutes(2), 95);
  EXPECT_EQ(only_alert().state, AlertState::Firing);
  EXPECT_EQ(only_alert().active_at, before.active_at);
  ASSERT_EQ(heard_.alerts.size(), 1u);
  EXPECT_EQ(heard_.alerts[0].active_at, before.active_at);
}

TEST_F(RuleManagerTest, RestartWhileFiringSaysNothingTwice) {
  boot();
  advance(minutes(4), 95);
  ASSERT_EQ(heard_.take().size(), 1u);
  const AlertView before = only_alert();
  boot();
  EXPECT_EQ(only_alert().state, AlertState::Firing);
  advance(minutes(1), 95);
  EXPECT_EQ(only_alert().active_at, before.active_at);
  EXPECT_TRUE(heard_.take().empty());  // the last message is not older than the resend delay
  advance(minutes(1), 95);
  EXPECT_EQ(heard_.take().size(), 1u);
}

TEST_F(RuleManagerTest, RestartWhileKeptFiringKeepsThatClock) {
  boot();
  advance(minutes(4), 95);
  advance(minutes(2), 50);
  const AlertView before = only_alert();
  ASSERT_TRUE(before.keep_firing_since.has_value());
  boot();
  EXPECT_EQ(only_alert().keep_firing_since, before.keep_firing_since);
  advance(minutes(2), 50);
  EXPECT_EQ(manager_->active_alerts(), 1u);
  advance(minutes(1), 50);
  EXPECT_EQ(manager_->active_alerts(), 0u);
}

TEST_F(RuleManagerTest, RestartJustAfterResolvingSaysItAgainOnly) {
  boot("groups: [{name: g, rules: [{alert: Hot, expr: t > 90}]}]");
  advance(minutes(1), 95);
  advance(minutes(1), 50);
  std::vector<Alert> heard = heard_.take();
  ASSERT_EQ(heard.size(), 2u);
  const auto resolved_at = heard[1].resolved_at;
  ASSERT_TRUE(resolved_at.has_value());
  boot("groups: [{name: g, rules: [{alert: Hot, expr: t > 90}]}]");
  advance(minutes(2), 50);
  heard = heard_.take();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].resolved_at, resolved_at);
}

TEST_F(RuleManagerTest, ALongOutageDoesNotCountAsHealing) {
  boot();
  advance(minutes(4), 95);
  const AlertView before = only_alert();
  heard_.take();
  clock_.advance(minutes(30));
  boot();
  clock_.advance(minutes(1));
  manager_->step(clock_.now());  // no target has been scraped yet
  EXPECT_EQ(only_alert().state, AlertState::Firing);
  advance(minutes(3), 95);
  EXPECT_EQ(only_alert().active_at, before.active_at);
  for (const Alert& alert : heard_.take()) EXPECT_FALSE(alert.resolved_at.has_value());
}

TEST_F(RuleManagerTest, AnOutageBeyondTheToleranceForgets) {
  boot();
  advance(minutes(4), 95);
  clock_.advance(minutes(90));
  boot();
  EXPECT_EQ(manager_->active_alerts(), 0u);
  advance(minutes(1), 95);
  EXPECT_EQ(only_alert().state, AlertState::Pending);
}

TEST_F(RuleManagerTest, ContinuesFromAlertsForStateOfPrometheus) {
  const std::string rules = "groups: [{name: g, rules: [{alert: Hot, expr: t > 90, for: 20m}]}]";
  boot(rules);
  advance(minutes(12), 95);
  const Timestamp active_at = only_alert().active_at;
  kv_.map.clear();  // as if Prometheus had written the series
  clock_.advance(minutes(2));
  boot(rules);
  advance(minutes(3), 95);
  // 20m - 11m pending remain 9m: less than the grace period, so it fires ten minutes after the
  // restore.
  const Timestamp restored = only_alert().active_at;
  EXPECT_GT(restored, active_at);
  EXPECT_LT(restored, clock_.now() - minutes(8));
}

TEST_F(RuleManagerTest, ReloadKeepsStatesAndEndsVanishedSeries) {
  boot();
  advance(minutes(4), 95);
  const AlertView before = only_alert();
  ASSERT_THAT(
      manager_->apply({rules_of(std::string(kHot).replace(std::string(kHot).find("3m"), 2, "9m"))}),
      IsOk());
  EXPECT_EQ(only_alert().active_at, before.active_at);
  advance(minutes(1), 95);
  EXPECT_EQ(only_alert().state, AlertState::Firing);
  ASSERT_THAT(manager_->apply({}), IsOk());
  EXPECT_TRUE(manager_->view().empty());
  EXPECT_TRUE(kv_.map.empty());
  const Matcher matchers[] = {Matcher::equal("__name__", "ALERTS_FOR_STATE")};
  const auto querier = store_->querier(from_millis(0), clock_.now());
  const auto cursor = querier->select(matchers, {from_millis(0), clock_.now(), ""});
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  while (cursor->read(columns, 100)) {
  }
  EXPECT_TRUE(is_stale(columns.v.back()));
  EXPECT_THAT(manager_->apply({rules_of(kHot), rules_of(kHot)}),
              StatusIs(Code::InvalidArgument, "repeated"));
}

TEST_F(RuleManagerTest, SyncsOnlyWhenAStateChanges) {
  boot();
  advance(minutes(1), 95);
  EXPECT_EQ(kv_.synced, 1);
  advance(minutes(2), 95);
  EXPECT_EQ(kv_.synced, 1);
  advance(minutes(1), 95);
  EXPECT_EQ(kv_.synced, 2);
  kv_.fail = true;
  advance(minutes(4), 95);  // the page goes out all the same
  EXPECT_GE(heard_.take().size(), 2u);
  kv_.fail = false;
  advance(minutes(1), 50);  // with room again, what was not written is
  boot();
  EXPECT_EQ(only_alert().keep_firing_since.has_value(), true);
}

TEST_F(RuleManagerTest, RunsOnItsOwnThreads) {
  boot();
  put(*store_, Labels::of({{"__name__", "t"}, {"gpu", "3"}}), clock_.now(), 95);
  manager_->start();
  for (int i = 0; i < 2000 && manager_->active_alerts() == 0; ++i) {
    clock_.advance(Duration(500));
    put(*store_, Labels::of({{"__name__", "t"}, {"gpu", "3"}}), clock_.now(), 95);
    std::this_thread::yield();
  }
  EXPECT_EQ(manager_->active_alerts(), 1u);
  ASSERT_THAT(manager_->apply({rules_of(kHot)}), IsOk());
  EXPECT_EQ(manager_->active_alerts(), 1u);
  manager_->stop();
}

}  // namespace
}  // namespace vagt::rules
