// What goes into a series of the head comes out, whatever mixture of blocks its open chunk is.
#include "tsdb/series.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/sample.h"
#include "tsdb/live_block.h"

namespace vagt::tsdb {
namespace {

void expect_holds(const Series& series, const RawColumns& expected, int round) {
  RawColumns found;
  series.read(kNoTime, INT64_MAX, found);
  ASSERT_EQ(found.t, expected.t) << "round " << round;
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint64_t>(found.v[i]), std::bit_cast<uint64_t>(expected.v[i]))
        << "round " << round << " sample " << i;
}

double next_value(std::mt19937_64& random, int kind, double before) {
  switch (kind) {
    case 0:
      return 42.5;
    case 1:
      return before + double(random() % 100);
    case 2:
      return std::round((before + double(random() % 4000) / 100) * 100) / 100;
    case 3:
      return random() % 30 == 0 ? stale_marker() : double(random() % 5);
    case 4:
      return std::bit_cast<double>(random());
    default:
      return random() % 40 == 0 ? -0.0 : double(random() % 64) / double(1 << random() % 6);
  }
}

TEST(Series, AnyMixtureOfBlocksReadsBack) {
  std::mt19937_64 random(314);
  for (int round = 0; round < 400; ++round) {
    Series series;
    series.id = random() % 1000;
    RawColumns expected;
    int64_t t = 1'700'000'000'000 + int64_t(random() % 100'000);
    double v = 0;
    int kind = round % 6;
    const size_t n = 1 + random() % 700;
    for (size_t i = 0; i < n; ++i) {
      if (random() % 60 == 0) kind = int(random() % 6);
      v = next_value(random, kind, std::isfinite(v) && std::fabs(v) < 1e12 ? v : 0);
      series.append(t, v);
      expected.push(t, v);
      const uint64_t gap = random() % (round % 2 == 0 ? 400 : 20);
      t += gap == 0 ? 1 + int64_t(random() % 10'000'000) : gap == 1 ? 14'990 : 15'000;
    }
    ASSERT_NO_FATAL_FAILURE(expect_holds(series, expected, round));
    std::string record;
    series.save(7, record);
    Series again;
    again.id = series.id.load();
    uint64_t sequence = 0;
    ASSERT_TRUE(again.restore(record, sequence)) << round;
    ASSERT_EQ(sequence, 7u);
    ASSERT_NO_FATAL_FAILURE(expect_holds(again, expected, round));
    for (int i = 0; i < 40; ++i, t += 15'000) {
      again.append(t, i * 0.5);
      expected.push(t, i * 0.5);
    }
    ASSERT_NO_FATAL_FAILURE(expect_holds(again, expected, round));
    again.close_all(9);
    ASSERT_NO_FATAL_FAILURE(expect_holds(again, expected, round));
    EXPECT_FALSE(again.has_open());
  }
}

TEST(Series, AnOpenChunkOfDecimalsIsSmallAndAConstantOneHardlyThere) {
  std::mt19937_64 random(9);
  Series constant, counter;
  constant.id = counter.id = 120;  // 240 samples
  double sum = 0;
  for (int i = 0; i < 230; ++i) {
    constant.append(i * 15'000, 7);
    counter.append(i * 15'000, sum += double(random() % 128));
  }
  EXPECT_LE(constant.memory_bytes(), 60u);
  EXPECT_LE(counter.memory_bytes(), 300u);
}

}  // namespace
}  // namespace vagt::tsdb
