// A wall clock that jumps: what is stored stays, and what comes afterwards is taken.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tsdb/rocks_fixture.h"
#include "tsdb/keys.h"

namespace vagt::tsdb {
namespace {

using test::IsOk;

constexpr int64_t kBegin = 19'700 * kDayMillis + 5 * 3'600'000;

class ClockTest : public RocksStoreTest {
 protected:
  // Scrapes at the clock's time every 15 s; returns how many of them were taken.
  int scrape(int count) {
    int taken = 0;
    for (int i = 0; i < count; ++i) {
      const Timestamp now = clock_.now();
      auto appender = store_->appender();
      const Code code = appender->append(*appender->series(gpu(0)), {now, double(i)});
      EXPECT_THAT(appender->commit(), IsOk());
      taken += code == Code::Ok;
      if (code == Code::Ok) times_.push_back(to_millis(now));
      EXPECT_THAT(store_->step(now), IsOk());
      clock_.advance(std::chrono::seconds(15));
    }
    return taken;
  }
  void expect_times() {
    std::sort(times_.begin(), times_.end());
    std::vector<int64_t> found;
    const Contents all = contents();
    for (const PlainPoint& point : all.at(gpu(0))) found.push_back(point.t);
    EXPECT_EQ(found, times_);
  }
  void begin() {
    clock_.set(from_millis(kBegin));
    open();
    EXPECT_EQ(scrape(400), 400);
  }
  std::vector<int64_t> times_;
};

TEST_F(ClockTest, BackAnHourLosesNothingStored) {
  options_.retention.time = std::chrono::hours(24 * 2);
  begin();
  clock_.advance(-std::chrono::hours(1));
  // Older than the newest, without a window: refused until the clock has caught up.
  EXPECT_EQ(scrape(300), 300 - 240);
  expect_times();
  open();
  expect_times();
}

TEST_F(ClockTest, BackAnHourFillsInWithAWindow) {
  options_.out_of_order_window = std::chrono::hours(2);
  begin();
  clock_.advance(-std::chrono::hours(1) - std::chrono::seconds(7));
  EXPECT_EQ(scrape(300), 300);
  expect_times();
  ASSERT_THAT(store_->flush(), IsOk());
  expect_times();
  open();
  expect_times();
}

TEST_F(ClockTest, ForwardADayDropsNothing) {
  options_.retention.time = std::chrono::hours(12);
  begin();
  clock_.advance(std::chrono::hours(24));
  // Nobody has written yet: the newest sample says what is kept, not the clock.
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  expect_times();
  open();
  expect_times();
  // It comes back before a scrape: all goes on as if nothing had been.
  clock_.advance(-std::chrono::hours(24));
  EXPECT_EQ(scrape(100), 100);
  expect_times();
}

TEST_F(ClockTest, ASampleADayAheadNeitherDropsNorBlocksTheOthers) {
  options_.retention.time = std::chrono::hours(12);
  begin();
  put(gpu(1), {{to_millis(clock_.now()) + kDayMillis, 1}});
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(scrape(100), 100);
  expect_times();
  ASSERT_THAT(store_->flush(), IsOk());
  expect_times();
}

}  // namespace
}  // namespace vagt::tsdb
