// Over budget only new series are refused, and what explodes is named.
#include "tsdb/guard.h"

#include <gtest/gtest.h>

#include "tests/tsdb/rocks_fixture.h"

namespace vagt::tsdb {
namespace {

using test::IsOk;
using test::StatusIs;

Labels request(int user) {
  return Labels::of({{"__name__", "http_requests"},
                     {"code", std::to_string(200 + user % 3)},
                     {"user", "u" + std::to_string(user)}});
}

class GuardTest : public RocksStoreTest {
 protected:
  // Creates series until one is refused; returns how many were new.
  int create(int first, int count, Status& refused) {
    auto appender = store_->appender();
    int made = 0;
    for (int i = first; i < first + count; ++i) {
      const auto ref = appender->series(request(i));
      if (!ref.ok()) {
        refused = ref.error();
        continue;
      }
      EXPECT_EQ(appender->append(*ref, {from_millis(1'000'000), 1}), Code::Ok);
      ++made;
    }
    EXPECT_THAT(appender->commit(), IsOk());
    return made;
  }
  base::Registry registry_;
};

TEST_F(GuardTest, TheMetricAndTheLabelThatExplodeAreNamed) {
  options_.max_series = 3000;
  options_.registry = &registry_;
  open();
  write_rounds(1200, 0, 2);  // large, but not what explodes
  Status refused;
  EXPECT_EQ(create(0, 1800, refused), 1800);
  EXPECT_THAT(refused, IsOk());
  EXPECT_EQ(store_->stats().over_budget, "");
  EXPECT_EQ(create(1800, 200, refused), 0);
  EXPECT_THAT(refused, StatusIs(Code::LimitExceeded, "3000 series"));
  EXPECT_EQ(store_->stats().series_refused, 200u);
  EXPECT_EQ(create(0, 100, refused), 100) << "known series are not refused";

  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  const auto exploding = store_->cardinality(5).exploding;
  ASSERT_TRUE(exploding);
  EXPECT_EQ(exploding->metric, "http_requests");
  EXPECT_EQ(exploding->label, "user");
  EXPECT_EQ(exploding->series, 1800u);
  EXPECT_EQ(exploding->values, 1800u);
  EXPECT_NE(
      store_->stats().over_budget.find("metric http_requests has 1800 series, its label user"),
      std::string::npos)
      << store_->stats().over_budget;
  EXPECT_EQ(create(5000, 1, refused), 0);
  EXPECT_THAT(refused, StatusIs(Code::LimitExceeded, "its label user 1800 values"));
  const std::string page = registry_.render();
  EXPECT_NE(page.find("vagt_tsdb_series_refused_total 201"), std::string::npos) << page;
  EXPECT_NE(page.find("vagt_tsdb_exploding_series{label=\"user\",metric=\"http_requests\"} 1800"),
            std::string::npos)
      << page;

  // Quiet for two minutes: over.
  for (int i = 0; i < 2; ++i) {
    clock_.advance(std::chrono::minutes(1));
    ASSERT_THAT(store_->step(clock_.now()), IsOk());
  }
  EXPECT_EQ(store_->stats().over_budget, "");
  EXPECT_FALSE(store_->cardinality(5).exploding);
  store_.reset();
}

TEST_F(GuardTest, BytesAreABudgetToo) {
  options_.max_series_bytes = 500'000;
  open();
  Status refused;
  int made = 0;
  for (int round = 0; round < 30; ++round) {
    made += create(round * 100, 100, refused);
    ASSERT_THAT(store_->step(clock_.now()), IsOk());
  }
  EXPECT_THAT(refused, StatusIs(Code::LimitExceeded, "500000 bytes"));
  EXPECT_THAT(refused, StatusIs(Code::LimitExceeded, "metric http_requests"));
  EXPECT_GT(made, 500);
  EXPECT_LT(made, 2500);
  EXPECT_LT(store_->head_memory().first, 600'000u);
}

}  // namespace
}  // namespace vagt::tsdb
