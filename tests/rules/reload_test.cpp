// A reload waits neither for a slow query nor for a worker, and the metrics follow the groups.
#include <gmock/gmock.h>

#include <future>
#include <latch>
#include <thread>

#include "rules/manager.h"
#include "tests/rules/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using namespace std::chrono_literals;
using std::chrono::minutes;
using test::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kPatience = 30s;

// Reads of the metric "slow" hang until the test lets them go, whatever the query's deadline says.
class StuckStore final : public tsdb::Store {
 public:
  std::unique_ptr<tsdb::Appender> appender() override { return inner_->appender(); }
  std::unique_ptr<tsdb::Querier> querier(Timestamp mint, Timestamp maxt) override {
    return std::make_unique<StuckQuerier>(*this, inner_->querier(mint, maxt));
  }
  std::vector<std::pair<std::string, tsdb::Metadata>> metadata(
      std::string_view metric) const override {
    return inner_->metadata(metric);
  }
  tsdb::StoreStats stats() const override { return inner_->stats(); }
  tsdb::CardinalityStats cardinality(size_t top) const override { return inner_->cardinality(top); }

  std::latch stuck{1}, released{1};

 private:
  struct StuckQuerier final : tsdb::Querier {
    StuckQuerier(StuckStore& of, std::unique_ptr<tsdb::Querier> querier)
        : store(of), inner(std::move(querier)) {}
    std::unique_ptr<tsdb::SeriesCursor> select(std::span<const Matcher> matchers,
                                               const tsdb::SelectHints& hints) override {
      for (const Matcher& matcher : matchers) {
        if (matcher.value() != "slow" || store.stuck.try_wait()) continue;
        store.stuck.count_down();
        store.released.wait();
      }
      return inner->select(matchers, hints);
    }
    Result<std::vector<std::string>> label_values(std::string_view name,
                                                  std::span<const Matcher> matchers) override {
      return inner->label_values(name, matchers);
    }
    Result<std::vector<std::string>> label_names(std::span<const Matcher> matchers) override {
      return inner->label_names(matchers);
    }
    StuckStore& store;
    std::unique_ptr<tsdb::Querier> inner;
  };

  std::unique_ptr<tsdb::MemoryStore> inner_ = make_memory_store();
};

std::string groups(const std::string& list) { return "groups: [" + list + "]"; }
std::string recording(const std::string& name, const std::string& expr) {
  return "{name: " + name + ", rules: [{record: 'r:" + name + "', expr: '" + expr + "'}]}";
}

class ReloadTest : public ::testing::Test {
 protected:
  void boot(const std::string& text, size_t workers) {
    RuleManager::Options options;
    options.store = &store_;
    options.clock = &clock_;
    options.registry = &registry_;
    options.workers = workers;
    manager_ = std::make_unique<RuleManager>(std::move(options));
    ASSERT_THAT(manager_->apply({rules_of(text)}), IsOk());
  }
  // False: it did not return in time; it has when the test has let the store go.
  bool applies(const std::string& text) {
    pending_ =
        std::async(std::launch::async, [this, text] { return manager_->apply({rules_of(text)}); });
    return pending_.wait_for(kPatience) == std::future_status::ready;
  }
  std::optional<Timestamp> evaluated(const std::string& name) const {
    for (const GroupView& group : manager_->view()) {
      if (group.name == name) return group.rules.back().last_evaluation;
    }
    return std::nullopt;
  }
  template <class Check>
  bool advances_until(Check check, Duration step = 500ms) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!check()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      clock_.advance(step);
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  void TearDown() override {
    if (!store_.released.try_wait()) store_.released.count_down();
    if (manager_) manager_->stop();
  }

  test::ManualClock clock_;
  StuckStore store_;
  base::Registry registry_;
  std::unique_ptr<RuleManager> manager_;
  std::future<Status> pending_;
};

TEST_F(ReloadTest, GroupsRunOnWhileOneIsStuck) {
  boot(groups(recording("a", "slow") + "," + recording("b", "vector(1)")), 2);
  manager_->start();
  ASSERT_TRUE(advances_until([&] { return store_.stuck.try_wait(); }));
  const std::string changed = groups(recording("a", "slow") + "," + recording("b", "vector(2)"));
  ASSERT_TRUE(applies(changed)) << "the reload waits for a query of a group it does not touch";
  EXPECT_THAT(pending_.get(), IsOk());
  const Timestamp reloaded = clock_.now();
  EXPECT_TRUE(advances_until([&] { return evaluated("b").value_or(Timestamp()) > reloaded; }))
      << "nothing is evaluated beside the stuck query";
  EXPECT_EQ(evaluated("a"), std::nullopt);
}

TEST_F(ReloadTest, AGroupThatWaitsForAWorkerIsReplacedAtOnce) {
  boot(groups(recording("a", "slow") + "," + recording("b", "vector(1)")), 1);
  manager_->start();
  ASSERT_TRUE(advances_until([&] { return store_.stuck.try_wait(); }));
  clock_.advance(minutes(2));  // b is due and finds no worker
  ASSERT_TRUE(applies(groups(recording("a", "slow") + "," + recording("b", "vector(2)"))));
  EXPECT_THAT(pending_.get(), IsOk());
  store_.released.count_down();
  EXPECT_TRUE(advances_until([&] { return evaluated("b").has_value(); }));
}

TEST_F(ReloadTest, AnEvaluationOfAReplacedGroupIsCutShortAndMadeUpFor) {
  const auto two = [](const std::string& second) {
    return groups("{name: a, rules: [{record: one, expr: slow}, {record: two, expr: '" + second +
                  "'}]}");
  };
  boot(two("vector(1)"), 1);
  manager_->start();
  ASSERT_TRUE(advances_until([&] { return store_.stuck.try_wait(); }));
  pending_ =
      std::async(std::launch::async, [&] { return manager_->apply({rules_of(two("vector(2)"))}); });
  // It can but wait for the read that is stuck, and for nothing after it.
  EXPECT_EQ(pending_.wait_for(50ms), std::future_status::timeout);
  store_.released.count_down();
  ASSERT_EQ(pending_.wait_for(kPatience), std::future_status::ready);
  EXPECT_THAT(registry_.render(),
              HasSubstr("prometheus_rule_evaluations_total{rule_group=\"r.yml;a\"} 0"));
  const Timestamp reloaded = clock_.now();
  ASSERT_TRUE(advances_until([&] { return evaluated("a").has_value(); }));
  EXPECT_LE(evaluated("a").value(), reloaded);  // the slot that was cut short, not the next
  const auto querier = store_.querier(from_millis(0), clock_.now());
  const Matcher matchers[] = {Matcher::equal("__name__", "two")};
  const auto cursor = querier->select(matchers, {from_millis(0), clock_.now(), ""});
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  cursor->read(columns, 10);
  EXPECT_EQ(columns.v, std::vector<double>{2});
}

TEST_F(ReloadTest, NothingIsMadeUpForInTheTimeBeforeIt) {
  const auto every = [](const std::string& interval) {
    return groups("{name: a, interval: " + interval +
                  ", rules: [{record: one, expr: slow}, {record: two, expr: 'vector(1)'}]}");
  };
  boot(every("1m"), 1);
  manager_->start();
  ASSERT_TRUE(advances_until([&] { return store_.stuck.try_wait(); }));
  const Timestamp cut = clock_.now();
  pending_ =
      std::async(std::launch::async, [&] { return manager_->apply({rules_of(every("1h"))}); });
  EXPECT_EQ(pending_.wait_for(50ms), std::future_status::timeout);
  store_.released.count_down();
  ASSERT_EQ(pending_.wait_for(kPatience), std::future_status::ready);
  // In small steps: a wrong evaluation would come at once, and not be there after an hour's leap.
  ASSERT_TRUE(advances_until([&] { return evaluated("a").has_value(); }, 10s));
  const auto querier = store_.querier(from_millis(0), clock_.now());
  const Matcher matchers[] = {Matcher::equal("__name__", "two")};
  const auto cursor = querier->select(matchers, {from_millis(0), clock_.now(), ""});
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  cursor->read(columns, 10);
  EXPECT_GE(columns.t.front(),
            cut - minutes(1));  // the last slot of the longer interval is long ago
}

TEST_F(ReloadTest, MetricsShowTheGroupsThereAreAndGoOnCounting) {
  boot(groups(recording("a", "vector(1)") + "," + recording("b", "vector(1)")), 1);
  clock_.advance(minutes(1));
  manager_->step(clock_.now());
  EXPECT_THAT(registry_.render(),
              HasSubstr("prometheus_rule_group_rules{rule_group=\"r.yml;b\"} 1"));
  ASSERT_TRUE(applies(groups(recording("a", "vector(2)"))));
  EXPECT_THAT(registry_.render(), Not(HasSubstr("r.yml;b")));
  clock_.advance(minutes(1));
  manager_->step(clock_.now());
  EXPECT_THAT(registry_.render(),
              HasSubstr("prometheus_rule_evaluations_total{rule_group=\"r.yml;a\"} 2"));
}

// Ten thousand groups, all changed, take about as long as they take to read.
TEST_F(ReloadTest, TenThousandGroupsAreReplaced) {
  std::string before, after;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "g" + std::to_string(i);
    before += recording(name, "vector(1)") + ",\n";
    after += recording(name, "vector(2)") + ",\n";
  }
  boot(groups(before), 1);
  ASSERT_TRUE(applies(groups(after)));
  EXPECT_EQ(manager_->view().size(), 10'000u);
}

}  // namespace
}  // namespace vagt::rules
