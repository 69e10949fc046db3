// Everything at once: scrapes, imports, queries, deletion, flushes, snapshots and retention. Runs
// for VAGT_CONCURRENT_SECONDS (one by default); under TSan it is the store's race test.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/tsdb/rocks_fixture.h"

namespace vagt::tsdb {
namespace {

using test::IsOk;

constexpr int64_t kStep = 15'000;
constexpr int64_t kBegin = 1'700'000'000'000 / kStep * kStep;
constexpr int64_t kKept = 6 * 3'600'000;
constexpr int kSeries = 60;  // of a scraper

int run_seconds() {
  const char* set = std::getenv("VAGT_CONCURRENT_SECONDS");
  return set != nullptr ? std::atoi(set) : 1;
}

Labels scraped(int scraper, int i) {
  return Labels::of(
      {{"__name__", "scraped"}, {"i", std::to_string(i)}, {"scraper", std::to_string(scraper)}});
}
double value(int64_t round) { return double(round % 4096) / 8; }

class ConcurrentTest : public RocksStoreTest {
 protected:
  bool going() const { return std::chrono::steady_clock::now() < end_ && !HasFailure(); }
  int64_t now() const { return to_millis(clock_.now()); }

  // All series of a round have its value, so that half a commit shows. The clock goes with the
  // slower scraper.
  void scrape(int scraper) {
    std::vector<SeriesRef> refs(kSeries, SeriesRef::None);
    for (int64_t round = 0; going(); ++round) {
      const Timestamp t = from_millis(kBegin + round * kStep);
      auto appender = store_->appender();
      for (int i = 0; i < kSeries; ++i) {
        SeriesRef& ref = refs[size_t(i)];
        const Sample sample{t, value(round)};
        if (ref != SeriesRef::None && appender->append(ref, sample) == Code::Ok) continue;
        ref = *appender->series(scraped(scraper, i));
        ASSERT_EQ(appender->append(ref, sample), Code::Ok) << round;
      }
      // And some that come and go.
      const Labels passing = Labels::of({{"__name__", "passing"},
                                         {"n", std::to_string(round / 40)},
                                         {"scraper", std::to_string(scraper)}});
      ASSERT_EQ(appender->append(*appender->series(passing), {t, 1}), Code::Ok);
      ASSERT_THAT(appender->commit(), IsOk());
      rounds_[size_t(scraper)].store(round + 1);
      while (going() && round > rounds_[size_t(1 - scraper)].load() + 100)
        std::this_thread::yield();
      if (scraper == 0) clock_.set(t);
    }
  }

  void import() {
    std::mt19937 random(1);
    for (int n = 0; going(); ++n) {
      auto appender = store_->import_appender();
      const auto ref =
          *appender->series(Labels::of({{"__name__", "imported"}, {"n", std::to_string(n % 50)}}));
      const int64_t from = now() - int64_t(random() % kKept);
      for (int i = 0; i < 100; ++i) {
        const Code code = appender->append(ref, {from_millis(from + i * 1000), double(i)});
        if (code == Code::NotFound) break;  // idle for half an hour of this clock's
        ASSERT_TRUE(code == Code::Ok || code == Code::OutOfBounds || code == Code::Duplicate)
            << int(code);
      }
      const Status committed = appender->commit();
      ASSERT_TRUE(committed.ok() || committed.code() == Code::NotFound) << committed.message();
    }
  }

  // Writes series nobody else does, deletes the middle, looks.
  void erase() {
    for (int n = 0; going(); ++n) {
      const Labels labels = Labels::of({{"__name__", "doomed"}, {"n", std::to_string(n % 20)}});
      const int64_t from = now() + 3'600'000 + n * 1000;
      Points points;
      for (int i = 0; i < 50; ++i) points.push_back({from + i * 10, double(i)});
      put(labels, points);
      const std::vector<Matcher> mine = {Matcher::equal("__name__", "doomed"),
                                         Matcher::equal("n", std::to_string(n % 20))};
      ASSERT_THAT(store_->delete_series(mine, from_millis(from + 100), from_millis(from + 399)),
                  IsOk());
      auto querier = store_->querier(from_millis(from), from_millis(from + 1000));
      const Contents found = read(*querier, mine);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found.begin()->second.size(), 20u);
      ASSERT_THAT(store_->delete_series(mine, from_millis(INT64_MIN), from_millis(INT64_MAX)),
                  IsOk());
    }
  }

  void query() {
    while (going()) {
      const int64_t until = now();
      auto querier = store_->querier(from_millis(until - 300'000), from_millis(until));
      const std::vector<Matcher> all = {Matcher::equal("__name__", "scraped")};
      std::map<std::string, Points> seen;
      for (const auto& [labels, points] : read(*querier, all)) {
        const auto first = seen.emplace(labels.get("scraper"), points).first;
        ASSERT_EQ(points, first->second) << "half a commit: " << labels.to_string();
      }
      EXPECT_THAT(querier->label_values("n", {}), IsOk());
      ++queries_;
    }
  }

  void keep_up() {
    std::mt19937 random(2);
    while (going()) {
      EXPECT_THAT(store_->step(clock_.now()), IsOk());
      if (random() % 10 == 0) {
        EXPECT_THAT(store_->flush(), IsOk());
      }
      if (random() % 40 == 0) snapshot();
      static_cast<void>(store_->stats());
      static_cast<void>(store_->cardinality(3));
    }
  }
  void snapshot() {
    const std::string path = dir_ / "snapshot";
    ASSERT_THAT(store_->snapshot(path), IsOk());
    RocksStoreOptions options = options_;
    options.path = path;
    auto copy = RocksStore::open(options);
    ASSERT_THAT(copy, IsOk());
    EXPECT_GT((*copy)->stats().head_series, 0u);
    copy->reset();
    std::filesystem::remove_all(path);
  }

  // What retention keeps of the scrapes is there, whole.
  void expect_all() {
    const int64_t newest = std::max(rounds_[0].load(), rounds_[1].load());
    for (int scraper = 0; scraper < 2; ++scraper) {
      const std::vector<Matcher> mine = {Matcher::equal("__name__", "scraped"),
                                         Matcher::equal("scraper", std::to_string(scraper))};
      auto querier = store_->querier(from_millis(kBegin), from_millis(INT64_MAX / 2));
      const Contents found = read(*querier, mine);
      EXPECT_EQ(found.size(), size_t{kSeries});
      const int64_t rounds = rounds_[size_t(scraper)];
      // The clock stood at one of the last rounds, and so does the horizon.
      const int64_t first = std::max<int64_t>(0, newest - kKept / kStep);
      for (const auto& [labels, points] : found) {
        ASSERT_FALSE(points.empty());
        EXPECT_LE(points.front().t, kBegin + first * kStep) << labels.to_string();
        ASSERT_EQ(int64_t(points.size()), rounds - (points.front().t - kBegin) / kStep);
        for (const PlainPoint& point : points)
          ASSERT_EQ(point.v, value((point.t - kBegin) / kStep)) << point;
      }
    }
  }

  std::chrono::steady_clock::time_point end_;
  std::array<std::atomic<int64_t>, 2> rounds_{};
  std::atomic<int> queries_{0};
};

TEST_F(ConcurrentTest, EverythingAtOnce) {
  options_.journal_bytes = 300'000;
  options_.retention.time = Duration(kKept);
  options_.out_of_order_window = std::chrono::minutes(10);
  options_.idle_after = std::chrono::minutes(30);
  clock_.set(from_millis(kBegin));
  open();
  end_ = std::chrono::steady_clock::now() + std::chrono::seconds(run_seconds());
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([this] { scrape(0); });
    threads.emplace_back([this] { scrape(1); });
    threads.emplace_back([this] { import(); });
    threads.emplace_back([this] { erase(); });
    threads.emplace_back([this] { query(); });
    threads.emplace_back([this] { query(); });
    threads.emplace_back([this] { keep_up(); });
  }
  std::printf("%lld and %lld rounds, %d queries\n", static_cast<long long>(rounds_[0]),
              static_cast<long long>(rounds_[1]), queries_.load());
  EXPECT_GT(queries_, 0);
  expect_all();
  ASSERT_FALSE(HasFailure());
  open();
  expect_all();
}

}  // namespace
}  // namespace vagt::tsdb
