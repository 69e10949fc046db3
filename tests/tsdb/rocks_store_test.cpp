// What only a store with files does: reopening, damage, a full disk, retention, concurrency.
#include "tsdb/rocks_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "tests/tsdb/rocks_fixture.h"
#include "tsdb/database.h"
#include "tsdb/keys.h"

namespace vagt::tsdb {
namespace {

using test::IsOk;
using test::StatusIs;

TEST_F(RocksStoreTest, ReopeningChangesNoAnswer) {
  open();
  write_rounds(20, 0, 300);
  put(gpu(100), {{-1000, stale_marker()}, {0, -0.0}});
  auto appender = store_->appender();
  appender->metadata("temp", {"gauge", "heat", "celsius"});
  ASSERT_THAT(appender->commit(), IsOk());
  appender.reset();  // none outlives its store
  const Contents before = contents();
  ASSERT_EQ(before.size(), 21u);
  open();
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(store_->metadata("temp").at(0).second.unit, "celsius");
  EXPECT_EQ(store_->stats().head_series, 21u);
  EXPECT_EQ(store_->stats().max_time, from_millis(299'000));
  EXPECT_EQ(store_->stats().min_time, from_millis(-1000));
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(contents(), before);
  open();
  EXPECT_EQ(contents(), before);
  ASSERT_THAT(store_->flush(), IsOk());
  EXPECT_EQ(contents(), before);
  open();
  EXPECT_EQ(contents(), before);
  write_rounds(20, 300, 10);
  EXPECT_EQ(contents().at(gpu(3)).size(), 310u);
}

TEST_F(RocksStoreTest, LateSamplesMergeOverMemoryAndDisk) {
  options_.out_of_order_window = std::chrono::hours(1);
  open();
  Points expected;
  for (int i = 0; i < 400; ++i) expected.push_back({i * 1000, double(i)});
  for (int i = 0; i < 400; i += 2) put(gpu(0), {expected[size_t(i)]});
  ASSERT_THAT(store_->flush(), IsOk());
  for (int i = 399; i > 0; i -= 2) put(gpu(0), {expected[size_t(i)]});  // backwards
  EXPECT_EQ(contents().at(gpu(0)), expected);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(contents().at(gpu(0)), expected);
  open();
  EXPECT_EQ(contents().at(gpu(0)), expected);
  ASSERT_THAT(store_->flush(), IsOk());
  EXPECT_EQ(contents().at(gpu(0)), expected);
}

// A page may bring hundreds of thousands, each more than once: quadratic work takes minutes.
TEST_F(RocksStoreTest, ManyNewSeriesInOneBatchTakeLinearTime) {
  open();
  auto appender = store_->appender();
  const std::clock_t begin = std::clock();  // of this process: others may keep the machine busy
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 300'000; ++i) ASSERT_THAT(appender->series(gpu(i)), test::IsOk());
  appender.reset();  // none has a sample: all are taken back
  EXPECT_EQ(store_->stats().head_series, 0u);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

TEST_F(RocksStoreTest, ASecondOpenIsRefused) {
  open();
  EXPECT_THAT(RocksStore::open(options_), StatusIs(Code::Unavailable, "in use"));
}

TEST_F(RocksStoreTest, ANewerFormatIsRefused) {
  open();
  store_.reset();
  {
    DatabaseOptions options;
    options.path = dir_.path();
    auto db = Database::open(options);
    ASSERT_THAT(db, IsOk());
    std::string version;
    put_big_endian(version, uint32_t{99});
    Batch batch;
    batch.put(Family::Meta, "format", version);
    ASSERT_THAT((*db)->write(batch, true), IsOk());
  }
  EXPECT_THAT(RocksStore::open(options_), StatusIs(Code::InvalidArgument, "format 99"));
}

TEST_F(RocksStoreTest, AnOlderFormatIsReadAndMarkedAsOurs) {
  open();
  write_rounds(3, 0, 500);
  const Contents before = contents();
  store_.reset();
  DatabaseOptions options;
  options.path = dir_.path();
  std::string version;
  put_big_endian(version, uint32_t{1});
  {
    auto db = Database::open(options);
    ASSERT_THAT(db, IsOk());
    Batch batch;
    batch.put(Family::Meta, "format", version);
    ASSERT_THAT((*db)->write(batch, true), IsOk());
  }
  open();
  EXPECT_EQ(contents(), before);
  ASSERT_THAT(store_->flush(), IsOk());
  EXPECT_EQ(contents(), before);
  store_.reset();
  auto db = Database::open(options);
  ASSERT_THAT(db, IsOk());
  const auto marker = (*db)->get(Family::Meta, "format");
  ASSERT_THAT(marker, IsOk());
  EXPECT_GT(ByteReader(**marker).big_endian<uint32_t>(), 1u);
}

// Labels are read while the journal is replayed: what has none must not stay, nor hold its place.
TEST_F(RocksStoreTest, SeriesWithoutTheirLabelsAreCountedAndLeftOut) {
  base::Registry registry;
  options_.registry = &registry;
  open();
  write_rounds(3000, 0, 3);
  Contents expected = contents();
  store_.reset();
  constexpr int kLost[] = {0, 7, 8, 1500, 2999};
  {
    DatabaseOptions options;
    options.path = dir_.path();
    auto db = Database::open(options);
    ASSERT_THAT(db, IsOk());
    Batch batch;
    for (const int i : kLost) batch.erase(Family::Series, series_key(SeriesId(i) + 1));
    ASSERT_THAT((*db)->write(batch, true), IsOk());
  }
  for (const int i : kLost) expected.erase(gpu(i));
  open();
  EXPECT_EQ(contents(), expected);
  EXPECT_EQ(store_->stats().head_series, 2995u);
  EXPECT_EQ(registry.counter("vagt_tsdb_samples_lost_total", "").value(), 15.0);
  // Their places serve others.
  for (const int i : kLost) {
    put(gpu(i), {{5000, 1.5}});
    expected[gpu(i)] = {{5000, 1.5}};
  }
  EXPECT_EQ(contents(), expected);
  EXPECT_EQ(store_->stats().head_series, 3000u);
  store_.reset();
}

TEST_F(RocksStoreTest, StateSurvives) {
  KvBatch batch;
  batch.put("silence/1", "a");
  batch.put("silence/2", "b");
  batch.put("zzz", "c");
  ASSERT_THAT(open().state().write(batch, KvStore::Sync::Yes), IsOk());
  batch.clear();
  batch.erase("silence/1");
  ASSERT_THAT(open().state().write(batch, KvStore::Sync::No), IsOk());
  open();
  EXPECT_EQ(*store_->state().get("silence/2"), "b");
  EXPECT_EQ(*store_->state().get("silence/1"), std::nullopt);
  std::vector<std::string> seen;
  ASSERT_THAT(store_->state().scan("silence/",
                                   [&](std::string_view key, std::string_view) {
                                     seen.emplace_back(key);
                                     return true;
                                   }),
              IsOk());
  EXPECT_EQ(seen, (std::vector<std::string>{"silence/2"}));
}

std::string newest_log(const std::string& dir) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    if (entry.path().extension() == ".log" && entry.file_size() > 0)
      newest = std::max(newest, entry.path().string());
  return newest;
}

void flip_byte(const std::string& path, size_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(std::streamoff(offset));
  const char byte = char(file.get() ^ 0x55);
  file.seekp(std::streamoff(offset));
  file.put(byte);
}

TEST_F(RocksStoreTest, ACutJournalLosesOnlyItsTail) {
  open();
  write_rounds(20, 0, 200);
  const Contents before = contents();
  store_.reset();
  const std::string log = newest_log(dir_.path());
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 20);
  open();
  const Contents after = contents();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [labels, points] : after) {
    ASSERT_EQ(points.size(), 199u);
    EXPECT_TRUE(std::equal(points.begin(), points.end(), before.at(labels).begin()));
  }
  write_rounds(20, 300, 1);
  EXPECT_EQ(contents().at(gpu(0)).size(), 200u);
}

TEST_F(RocksStoreTest, AFlippedJournalByteLosesOnlyWhatIsNearIt) {
  open();
  write_rounds(200, 0, 200);  // some 2.2 kB a commit
  const Contents before = contents();
  store_.reset();
  const std::string log = newest_log(dir_.path());
  flip_byte(log, std::filesystem::file_size(log) / 2);
  open();
  const Contents after = contents();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [labels, points] : after) {
    EXPECT_LT(points.size(), 200u);
    EXPECT_GT(points.size(), 160u);  // the log is read in blocks of 32 kB
    for (const auto& point : points)
      EXPECT_EQ(point, before.at(labels)[size_t(point.t / 1000)]);  // nothing invented
    EXPECT_EQ(points.back(), before.at(labels).back());
  }
}

TEST_F(RocksStoreTest, ADamagedFileSpoilsOnlyItsSeries) {
  open();
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    Points points;
    for (int n = 0; n < 500; ++n)
      points.push_back({n * 1000, std::bit_cast<double>(random() >> 2)});
    put(gpu(i), points);
  }
  ASSERT_THAT(store_->flush(), IsOk());
  const Contents before = contents();
  store_.reset();
  std::string largest;
  uintmax_t size = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
    if (entry.path().extension() == ".sst" && entry.file_size() > size) {
      largest = entry.path();
      size = entry.file_size();
    }
  flip_byte(largest, size / 2);
  open();
  auto querier = store_->querier(from_millis(0), from_millis(1'000'000));
  auto cursor = querier->select({}, {from_millis(0), from_millis(1'000'000), ""});
  size_t good = 0;
  while (cursor->next()) {
    SampleColumns columns;
    while (cursor->read(columns, 1000)) {
    }
    EXPECT_EQ(columns.size(), before.at(cursor->labels()).size());
    ++good;
  }
  EXPECT_THAT(cursor->status(), StatusIs(Code::Corruption, "temp{"));
  EXPECT_GT(good, 150u);
  EXPECT_LT(good, 200u);
  EXPECT_THAT(store_->verify(), StatusIs(Code::Corruption));
}

TEST_F(RocksStoreTest, RetentionByTimeDropsWholeDaysAndHidesTheRest) {
  options_.retention.time = std::chrono::hours(24 * 30);
  open();
  for (int hour = 0; hour < 24 * 45; ++hour) {
    const int64_t t = int64_t{hour} * 3'600'000;
    clock_.set(from_millis(t));
    put(gpu(0), {{t, double(hour)}});
    if (hour < 24) put(gpu(1), {{t, 1}});  // a series of the first day only
    if (hour % 24 == 0) {
      ASSERT_THAT(store_->step(clock_.now()), IsOk());
    }
  }
  ASSERT_THAT(store_->flush(), IsOk());
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  const Contents after = contents();
  ASSERT_EQ(after.size(), 1u);
  const Points& points = after.at(gpu(0));
  EXPECT_EQ(points.front().t, (24 * 45 - 1 - 24 * 30) * 3'600'000LL);
  EXPECT_EQ(points.size(), 24u * 30 + 1);
  clock_.advance(std::chrono::hours(24 * 300));  // a jump forward drops nothing
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(contents(), after);
  auto querier = store_->querier(from_millis(0), clock_.now());
  EXPECT_EQ(querier->label_values("gpu", {})->size(), 1u);
}

TEST_F(RocksStoreTest, RetentionBySizeDropsTheOldestDays) {
  options_.ballast_bytes = 0;
  open();
  std::mt19937_64 random(1);
  for (int day = 0; day < 10; ++day) {
    for (int i = 0; i < 20; ++i) {
      Points points;
      for (int n = 0; n < 400; ++n)
        points.push_back({day * kDayMillis + n * 1000, std::bit_cast<double>(random() >> 2)});
      put(gpu(i), points);
    }
    ASSERT_THAT(store_->flush(), IsOk());
  }
  ASSERT_GT(store_->stats().disk_bytes, 600'000u);
  store_->set_retention({Duration(0), 300'000});
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  ASSERT_THAT(store_->flush(), IsOk());
  const Contents after = contents();
  ASSERT_EQ(after.size(), 20u);
  EXPECT_EQ(after.at(gpu(0)).back().t, 9 * kDayMillis + 399'000);
  EXPECT_GE(after.at(gpu(0)).front().t, 4 * kDayMillis);
  EXPECT_LT(store_->stats().disk_bytes, 600'000u);
}

TEST_F(RocksStoreTest, AReaderKeepsItsDataWhileItIsSealedAndDropped) {
  options_.retention.time = std::chrono::hours(24 * 2);
  open();
  write_rounds(5, 0, 400);
  const Contents before = contents();
  auto querier = store_->querier(from_millis(0), from_millis(400'000));
  ASSERT_THAT(store_->flush(), IsOk());
  clock_.set(from_millis(20 * kDayMillis));
  put(gpu(9), {{20 * kDayMillis, 1}});
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(read(*querier), before);
  EXPECT_EQ(contents().size(), 1u);
  querier.reset();
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(contents().size(), 1u);
}

TEST_F(RocksStoreTest, IdleSeriesLeaveMemoryAndComeBackAsThemselves) {
  open();
  write_rounds(10, 0, 50);
  const Contents before = contents();
  for (int i = 0; i < 3; ++i) {
    clock_.advance(std::chrono::hours(2));
    ASSERT_THAT(store_->step(clock_.now()), IsOk());
  }
  EXPECT_EQ(store_->stats().head_series, 0u);
  EXPECT_EQ(contents(), before);
  auto querier = store_->querier(from_millis(0), from_millis(100'000));
  EXPECT_EQ(querier->label_values("gpu", {})->size(), 10u);
  const std::vector<Matcher> one = {Matcher::equal("gpu", "3")};
  EXPECT_EQ(read(*querier, one).size(), 1u);
  const std::vector<Matcher> prefix = {*Matcher::make(MatchOp::Regex, "instance", "h0.*")};
  EXPECT_EQ(read(*querier, prefix).size(), 8u);
  querier.reset();
  write_rounds(10, 60, 1);
  EXPECT_EQ(store_->stats().head_series, 10u);
  EXPECT_EQ(contents().at(gpu(2)).size(), 51u);
  open();
  EXPECT_EQ(contents().at(gpu(2)).size(), 51u);
}

// Its first chunk must not take the place of an older one that began at the same time.
TEST_F(RocksStoreTest, ASeriesThatComesBackGoesOnWhereItEnded) {
  open();
  write_rounds(3, 0, 50);
  for (int i = 0; i < 3; ++i) {
    clock_.advance(std::chrono::hours(2));
    ASSERT_THAT(store_->step(clock_.now()), IsOk());
  }
  ASSERT_EQ(store_->stats().head_series, 0u);
  const Contents before = contents();
  for (const bool reopen : {false, true}) {
    auto appender = store_->appender();
    const SeriesRef ref = *appender->series(gpu(0));
    EXPECT_EQ(appender->append(ref, {from_millis(0), 0}), Code::OutOfOrder);
    EXPECT_EQ(appender->append(ref, {from_millis(49'000), 49}), Code::Ok);
    EXPECT_EQ(appender->append(ref, {from_millis(49'000), 48}), Code::Duplicate);
    auto import = store_->import_appender();
    EXPECT_EQ(import->append(ref, {from_millis(0), 0}), Code::Ok);
    EXPECT_EQ(import->append(ref, {from_millis(500), 9}), Code::Ok);
    if (!reopen) continue;  // rolled back
    ASSERT_EQ(*import->series(gpu(0)), ref);
    ASSERT_THAT(import->commit(), IsOk());
    import.reset();
    appender.reset();
    open();
  }
  ASSERT_THAT(store_->flush(), IsOk());
  Contents after = before;
  after[gpu(0)].insert(after[gpu(0)].begin() + 1, {500, 9});
  EXPECT_EQ(contents(), after);
  open();
  EXPECT_EQ(contents(), after);
}

TEST_F(RocksStoreTest, DeletedStaysDeletedOverReopening) {
  open();
  write_rounds(10, 0, 300);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  const std::vector<Matcher> third = {Matcher::equal("gpu", "3")};
  ASSERT_THAT(store_->delete_series(third, from_millis(0), from_millis(1'000'000)), IsOk());
  const std::vector<Matcher> fourth = {Matcher::equal("gpu", "4")};
  ASSERT_THAT(store_->delete_series(fourth, from_millis(100'000), from_millis(199'999)), IsOk());
  const Contents after = contents();
  EXPECT_EQ(after.size(), 9u);
  EXPECT_EQ(after.at(gpu(4)).size(), 200u);
  open();
  EXPECT_EQ(contents(), after);
  ASSERT_THAT(store_->clean_tombstones(), IsOk());
  EXPECT_EQ(contents(), after);
}

TEST_F(RocksStoreTest, ASnapshotOpensAsAStoreOfItsOwn) {
  open();
  write_rounds(10, 0, 200);
  const Contents before = contents();
  ASSERT_THAT(store_->snapshot(dir_ / "snapshots/one"), IsOk());
  EXPECT_THAT(store_->snapshot(dir_ / "snapshots/one"), StatusIs(Code::InvalidArgument, "exists"));
  write_rounds(10, 200, 5);
  store_.reset();
  options_.path = dir_ / "snapshots/one";
  open();
  EXPECT_EQ(contents(), before);
}

TEST_F(RocksStoreTest, TheJournalIsTrimmedAndNothingIsLost) {
  options_.journal_bytes = 10'000;
  open();
  for (int i = 0; i < 20; ++i) {
    write_rounds(30, i * 20, 20);
    ASSERT_THAT(store_->step(clock_.now()), IsOk());
  }
  const Contents before = contents();
  open();
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(before.at(gpu(7)).size(), 400u);
}

TEST_F(RocksStoreTest, AFullDiskRefusesWritesAndRecoversByItself) {
  SmallDisk disk(dir_ / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: cannot mount a tmpfs (needs root)";
  options_.path = dir_ / "disk/data";
  options_.min_free_bytes = 4u << 20;
  open();
  write_rounds(100, 0, 10);
  disk.fill(options_.min_free_bytes / 2);
  // The very next commit sees it, without an upkeep in between.
  auto appender = store_->appender();
  ASSERT_EQ(appender->append(*appender->series(gpu(0)), {from_millis(10'000), 1}), Code::Ok);
  EXPECT_THAT(appender->commit(), StatusIs(Code::Unavailable, "disk full"));
  EXPECT_NE(store_->stats().degraded, "");
  EXPECT_THAT(store_->delete_series({}, from_millis(0), from_millis(1)),
              StatusIs(Code::Unavailable));
  const Contents before = contents();
  EXPECT_EQ(before.size(), 100u);
  EXPECT_EQ(before.at(gpu(0)).size(), 10u);
  KvBatch delivery;
  delivery.put("delivery/1", "sent");
  EXPECT_THAT(store_->state().write(delivery, KvStore::Sync::Yes), IsOk());
  disk.empty();
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(store_->stats().degraded, "");
  EXPECT_EQ(contents(), before);
  write_rounds(100, 6000, 2);
  EXPECT_EQ(contents().at(gpu(0)).size(), 12u);
  const Contents last = contents();
  open();
  EXPECT_EQ(contents(), last);
  store_.reset();
}

// Every commit gives all series the same value: a reader that sees two values saw half a commit.
TEST_F(RocksStoreTest, CommitsAreSeenWholeByConcurrentReaders) {
  options_.journal_bytes = 50'000;
  options_.out_of_order_window = std::chrono::hours(1);
  open();
  constexpr int kRounds = 600, kSeries = 40;
  std::atomic<int> writing{2};
  std::atomic<int> torn{0}, reads{0};
  const auto write = [&](int offset) {
    for (int n = 0; n < kRounds; ++n) {
      auto appender = store_->appender();
      for (int i = 0; i < kSeries; ++i)
        appender->append(*appender->series(gpu(offset + i)), {from_millis(n * 1000), double(n)});
      EXPECT_THAT(appender->commit(), IsOk());
    }
    --writing;
  };
  const auto check = [&](int offset) {
    while (writing > 0) {
      auto querier = store_->querier(from_millis(0), from_millis(kRounds * 1000));
      const auto all = read(*querier);
      std::set<size_t> sizes;
      for (int i = 0; i < kSeries; ++i) {
        const auto it = all.find(gpu(offset + i));
        sizes.insert(it == all.end() ? 0 : it->second.size());
      }
      torn += sizes.size() != 1;
      ++reads;
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.emplace_back(write, 0);
    threads.emplace_back(write, 1000);
    threads.emplace_back(check, 0);
    threads.emplace_back(check, 1000);
    threads.emplace_back([&] {
      while (writing > 0) {
        clock_.advance(std::chrono::minutes(1));
        EXPECT_THAT(store_->step(clock_.now()), IsOk());
        EXPECT_THAT(store_->flush(), IsOk());
      }
    });
  }
  EXPECT_EQ(torn, 0);
  EXPECT_GT(reads, 0);
  const Contents all = contents();
  ASSERT_EQ(all.size(), 2u * kSeries);
  for (const auto& [labels, points] : all) EXPECT_EQ(points.size(), size_t{kRounds});
}

}  // namespace
}  // namespace vagt::tsdb
