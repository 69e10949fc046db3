// Weeks of scrapes in simulated time: what remains is the span retention says, and the disk does
// not fill meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/tsdb/rocks_fixture.h"

namespace vagt::tsdb {
namespace {

constexpr int64_t kStep = 15'000;
constexpr int64_t kDay = 86'400'000;
constexpr int64_t kBegin = 19'700 * kDay + 7 * 3'600'000;  // in the middle of a day

class LongRunTest : public RocksStoreTest {
 protected:
  static double value(int series, int64_t n) {
    if (series % 7 == 5) return std::sin(double(n) * double(series));  // eight bytes a sample
    return series % 3 == 0 ? series : double((n * (series + 3) + n * n % 97) % 100'000) / 8;
  }

  // Scrapes every 15 s for `days`, upkeep every five minutes, a restart in between. In the last
  // third of the time the files take no more than in the second; a log, memtables and files that
  // are about to be compacted come and go.
  void run(int series, int days) {
    series_ = series;
    clock_.set(from_millis(kBegin));
    open();
    const int64_t rounds = days * (kDay / kStep);
    std::vector<SeriesRef> refs;
    for (count_ = 0; count_ < rounds; ++count_) {
      const int64_t t = kBegin + count_ * kStep;
      clock_.set(from_millis(t));
      if (count_ == rounds / 2) {
        open();
        refs.clear();
      }
      auto appender = store_->appender();
      for (int i = 0; refs.size() < size_t(series); ++i) refs.push_back(*appender->series(gpu(i)));
      for (int i = 0; i < series; ++i)
        ASSERT_EQ(appender->append(refs[size_t(i)], {from_millis(t), value(i, count_)}), Code::Ok);
      ASSERT_THAT(appender->commit(), test::IsOk());
      if (count_ % 20 != 0) continue;
      ASSERT_THAT(store_->step(clock_.now()), test::IsOk());
      if (count_ % 480 != 0) continue;
      uint64_t& peak = peaks_[size_t(count_ * 3 / rounds)];
      peak = std::max(peak, store_->stats().disk_bytes);
    }
    ASSERT_THAT(store_->step(clock_.now()), test::IsOk());
    EXPECT_LT(peaks_[2], peaks_[1] + (16u << 20));
    EXPECT_LT(peaks_[2], kMost);
  }

  // Every series has every sample from `first` on, and nothing before. Returns false on a fault.
  bool has_all_from(int64_t first) {
    const Contents all = contents();
    EXPECT_EQ(all.size(), size_t(series_));
    const int64_t skipped = (first - kBegin + kStep - 1) / kStep;
    for (int i = 0; i < series_; ++i) {
      const Points& points = all.at(gpu(i));
      if (points.size() != size_t(count_ - skipped)) {
        ADD_FAILURE() << "series " << i << ": " << points.size() << " samples from "
                      << points.front().t << ", expected " << count_ - skipped << " from " << first;
        return false;
      }
      for (int64_t n = skipped; n < count_; ++n) {
        const PlainPoint expected{kBegin + n * kStep, value(i, n)};
        if (points[size_t(n - skipped)] == expected) continue;
        ADD_FAILURE() << "series " << i << " differs at " << expected;
        return false;
      }
    }
    return true;
  }
  int64_t newest() const { return kBegin + (count_ - 1) * kStep; }

  static constexpr uint64_t kMost = 256u << 20;  // RocksDB's log alone may reach 96 MiB
  std::array<uint64_t, 3> peaks_{};
  int series_ = 0;
  int64_t count_ = 0;
};

TEST_F(LongRunTest, AWeekWithTwoDaysKept) {
  options_.retention.time = std::chrono::hours(48);
  ASSERT_NO_FATAL_FAILURE(run(3, 7));
  EXPECT_TRUE(has_all_from(newest() - 2 * kDay));
  open();
  EXPECT_TRUE(has_all_from(newest() - 2 * kDay));
}

TEST_F(LongRunTest, DISABLED_NinetyDaysWithThirtyKept) {
  options_.retention.time = std::chrono::hours(24 * 30);
  ASSERT_NO_FATAL_FAILURE(run(50, 90));
  EXPECT_TRUE(has_all_from(newest() - 30 * kDay));
  open();
  EXPECT_TRUE(has_all_from(newest() - 30 * kDay));
}

TEST_F(LongRunTest, DISABLED_NinetyDaysWithASizeCap) {
  options_.retention.time = std::chrono::hours(24 * 30);
  options_.retention.bytes = 4u << 20;
  ASSERT_NO_FATAL_FAILURE(run(50, 90));
  const auto oldest = store_->stats().min_time;
  ASSERT_TRUE(oldest);
  // Whole days, fewer than thirty and more than what is in memory.
  EXPECT_EQ(to_millis(*oldest) % kDay, 0);
  EXPECT_GT(to_millis(*oldest), newest() - 30 * kDay);
  EXPECT_LT(to_millis(*oldest), newest() - 2 * kDay);
  EXPECT_TRUE(has_all_from(to_millis(*oldest)));
}

}  // namespace
}  // namespace vagt::tsdb
