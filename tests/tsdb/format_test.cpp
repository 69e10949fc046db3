// What earlier versions wrote is read, and what is damaged is told.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "base/sample.h"
#include "tsdb/codec.h"
#include "tsdb/journal.h"
#include "tsdb/series.h"

namespace vagt::tsdb {
namespace {

std::vector<JournalSample> read_all(std::string_view record, bool& damaged) {
  JournalReader reader(record);
  std::vector<JournalSample> all;
  while (const auto sample = reader.next()) all.push_back(*sample);
  damaged = reader.damaged();
  return all;
}

TEST(Journal, EveryValueComesBackBitByBit) {
  std::mt19937_64 random(5);
  std::vector<JournalSample> written;
  for (const double v :
       {0.0, -0.0, 1.0, 65.0, 0.1, 1e300, 5e-324, stale_marker(),
        std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    written.push_back({written.size() + 1, 1'700'000'000'000, v});
  for (int i = 0; i < 3000; ++i) {
    const uint64_t bits = random() << (random() % 64);
    const bool regular = random() % 4 != 0;
    written.push_back({regular ? written.back().id + 1 : random(),
                       regular ? written.back().t : static_cast<int64_t>(random()),
                       std::bit_cast<double>(bits)});
  }
  JournalWriter writer(written.size());
  for (const JournalSample& s : written) writer.add(s.id, s.t, s.v);
  bool damaged = true;
  const auto found = read_all(writer.record(), damaged);
  EXPECT_FALSE(damaged);
  ASSERT_EQ(found.size(), written.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].id, written[i].id) << i;
    ASSERT_EQ(found[i].t, written[i].t) << i;
    ASSERT_EQ(std::bit_cast<uint64_t>(found[i].v), std::bit_cast<uint64_t>(written[i].v)) << i;
  }
  for (size_t cut = 0; cut < 200; ++cut) {
    const auto some = read_all(writer.record().substr(0, writer.record().size() - cut), damaged);
    ASSERT_LE(some.size(), written.size());
  }
}

TEST(Journal, AScrapeOfSmallNumbersCostsAFewBytesASample) {
  JournalWriter writer(1000);
  for (int i = 0; i < 1000; ++i) writer.add(SeriesId(500 + i), 1'700'000'000'000, i % 100);
  EXPECT_LE(writer.record().size(), 3'800u);
}

TEST(Journal, RecordsOfFormatTwoAreRead) {
  std::string record;  // two samples
  put_zigzag(record, 70'000);
  put_zigzag(record, 1'700'000'000'000);
  put_bits64(record, 1.5);
  put_zigzag(record, 1);
  put_zigzag(record, 0);
  put_bits64(record, -3.25);
  bool damaged = true;
  const auto found = read_all(record, damaged);
  EXPECT_FALSE(damaged);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].id, 70'001u);
  EXPECT_EQ(found[1].t, 1'700'000'000'000);
  EXPECT_EQ(found[0].v, 1.5);
  EXPECT_EQ(found[1].v, -3.25);
}

TEST(HeadRecord, AnOpenChunkOfFormatTwoIsRead) {
  RawColumns open;
  for (int i = 0; i < 100; ++i) open.push(1'700'000'000'000 + i * 15'000, i * 0.25);
  std::string chunk, record;
  encode_chunk(open.t, open.v, chunk);
  put_varint(record, 9);
  put_zigzag(record, open.t.back());
  put_varint(record, std::bit_cast<uint64_t>(open.v.back()));
  put_zigzag(record, INT32_MIN);
  put_zigzag(record, kNoTime);
  put_varint(record, 1);
  put_sized(record, chunk);
  Series series;
  uint64_t sequence = 0;
  ASSERT_TRUE(series.restore(record, sequence));
  EXPECT_EQ(sequence, 9u);
  EXPECT_EQ(series.newest_value(), open.v.back());
  EXPECT_EQ(series.oldest_t(), open.t.front());
  series.append(open.t.back() + 15'000, 7);
  open.push(open.t.back() + 15'000, 7);
  RawColumns found;
  series.read(kNoTime, INT64_MAX, found);
  EXPECT_EQ(found.t, open.t);
  EXPECT_EQ(found.v, open.v);
}

TEST(HeadRecord, DamagedBytesNeverCrash) {
  std::mt19937 random(6);
  std::string record;
  Series series;
  series.id = 100;
  int64_t t = 1'700'000'000'000;
  for (int i = 0; i < 150; ++i, t += i % 40 == 0 ? 31'000 : 15'000)
    series.append(t, i < 60 ? 4 : i * 0.37);
  series.append_late(1'699'999'990'000, 1, 3);
  series.save(12, record);
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = record;
    for (int flips = 1 + int(random() % 3); flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1u << random() % 8);
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    Series again;
    uint64_t sequence = 0;
    if (!again.restore(bad, sequence)) continue;
    RawColumns found;
    again.read(kNoTime, INT64_MAX, found);
    again.append(again.newest_t.load() < INT64_MAX - 1 ? again.newest_t.load() + 1 : INT64_MAX, 1);
  }
}

}  // namespace
}  // namespace vagt::tsdb
