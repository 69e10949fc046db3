// Whatever goes into a chunk comes out bit for bit, and the cheap codecs are the ones chosen.
#include "tsdb/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/sample.h"
#include "tsdb/entropy.h"
#include "tsdb/mark_cache.h"
#include "tsdb/pack.h"

namespace vagt::tsdb {
namespace {

// Any part alone, with the marks that the parts before left behind and without.
void expect_parts(const RawColumns& in, const std::string& chunk) {
  ChunkMarks marks;
  const size_t n = in.size();
  const std::pair<size_t, size_t> parts[] = {{n / 2, n / 2 + 3}, {n - 1, n}, {n / 3, n}, {0, 2},
                                             {n / 4, n / 4 * 3}, {0, n}};
  for (const auto& [begin, end] : parts) {
    if (begin >= end || end > n) continue;
    for (ChunkMarks fresh; ChunkMarks * used : {&fresh, &marks}) {
      RawColumns out;
      ASSERT_TRUE(decode_chunk_between(chunk, in.t[begin], in.t[end - 1], *used, out));
      ASSERT_EQ(out.size(), end - begin);
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out.t[i], in.t[begin + i]);
        ASSERT_EQ(std::bit_cast<uint64_t>(out.v[i]), std::bit_cast<uint64_t>(in.v[begin + i]));
      }
    }
  }
  EXPECT_TRUE(marks.empty() || value_codec_of(chunk) >= ValueCodec::Entropy);
  RawColumns none;
  EXPECT_TRUE(decode_chunk_between(chunk, in.t.back() + 1, in.t.back() + 5, marks, none));
  EXPECT_EQ(none.size(), 0u);
}

void expect_round_trip(const RawColumns& in, Effort effort) {
  std::string chunk;
  encode_chunk(in.t, in.v, chunk, effort);
  RawColumns out;
  ASSERT_TRUE(decode_chunk(chunk, out));
  ASSERT_EQ(out.t, in.t);
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint64_t>(out.v[i]), std::bit_cast<uint64_t>(in.v[i])) << i;
  const auto span = chunk_span(chunk);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->first_t, in.t.front());
  EXPECT_EQ(span->last_t, in.t.back());
  EXPECT_EQ(span->count, in.size());
  if (in.t.back() < INT64_MAX - 5) expect_parts(in, chunk);
}

void expect_round_trip(const RawColumns& in) {
  expect_round_trip(in, Effort::Quick);
  expect_round_trip(in, Effort::Small);
}

template <class F>
RawColumns regular(size_t n, F value) {
  RawColumns columns;
  for (size_t i = 0; i < n; ++i) columns.push(1'700'000'000'000 + int64_t(i) * 15'000, value(i));
  return columns;
}

std::string encoded(const RawColumns& in, Effort effort = Effort::Quick) {
  std::string chunk;
  encode_chunk(in.t, in.v, chunk, effort);
  return chunk;
}

TEST(Codec, PicksTheCheapOne) {
  const auto constant = regular(240, [](size_t) { return 42.5; });
  EXPECT_EQ(value_codec_of(encoded(constant)), ValueCodec::Constant);
  EXPECT_EQ(time_codec_of(encoded(constant)), TimeCodec::Regular);
  EXPECT_LT(encoded(constant).size(), 24u);
  const auto runs = regular(240, [](size_t i) { return i < 120 ? 1.25e300 : M_PI; });
  EXPECT_EQ(value_codec_of(encoded(runs)), ValueCodec::RunLength);
  const auto counter = regular(240, [](size_t i) { return double(i) * 3 + 1e9; });
  EXPECT_EQ(value_codec_of(encoded(counter)), ValueCodec::Decimal);
  EXPECT_LT(encoded(counter).size(), 40u);
  const auto hundredths = regular(240, [](size_t i) { return double(i % 7 + 100 * i) / 100; });
  EXPECT_EQ(value_codec_of(encoded(hundredths)), ValueCodec::Decimal);
  const auto irrational = regular(240, [](size_t i) { return std::sqrt(double(i) + 2); });
  EXPECT_TRUE(value_codec_of(encoded(irrational)) == ValueCodec::Xor ||
              value_codec_of(encoded(irrational)) == ValueCodec::Raw);
  for (const auto& each : {constant, runs, counter, hundredths, irrational})
    expect_round_trip(each);
}

TEST(Codec, AStaleMarkerDoesNotSpoilADecimalChunk) {
  auto columns = regular(240, [](size_t i) { return double(i) / 4; });
  columns.v.back() = stale_marker();
  columns.v[10] = -0.0;
  EXPECT_EQ(value_codec_of(encoded(columns)), ValueCodec::Decimal);
  expect_round_trip(columns);
}

TEST(Codec, TimestampsWithGapsAndJitter) {
  auto gap = regular(200, [](size_t) { return 1.0; });
  for (size_t i = 100; i < 200; ++i) gap.t[i] += 60'000;
  EXPECT_EQ(time_codec_of(encoded(gap)), TimeCodec::Exceptions);
  expect_round_trip(gap);
  auto jitter = regular(200, [](size_t) { return 1.0; });
  for (size_t i = 0; i < 200; ++i) jitter.t[i] += int64_t(i * i * 31 % 11);
  EXPECT_EQ(time_codec_of(encoded(jitter)), TimeCodec::Deltas);
  expect_round_trip(jitter);
}

TEST(Codec, ExtremesOfTimeAndValue) {
  RawColumns columns;
  columns.push(INT64_MIN / 4, 1);
  columns.push(-1, std::numeric_limits<double>::max());
  columns.push(0, -HUGE_VAL);
  columns.push(1, std::numeric_limits<double>::denorm_min());
  columns.push(INT64_MAX / 4, 9007199254740993.0);
  expect_round_trip(columns);
  RawColumns one;
  one.push(-7, normal_nan());
  expect_round_trip(one);
}

double any_value(std::mt19937_64& random, int kind) {
  switch (kind) {
    case 0:
      return double(random() % 1000);
    case 1:
      return double(int64_t(random() % 2'000'000) - 1'000'000) / 1000;
    case 2:
      return std::bit_cast<double>(random());
    case 3:
      return random() % 20 == 0 ? stale_marker() : double(random() % 3);
    case 4:
      return double(random() >> 12) * 1e-9;
    default:
      return random() % 50 == 0 ? double(random()) : 5.5;
  }
}

TEST(Codec, AnythingRoundTrips) {
  std::mt19937_64 random(20260301);
  for (int round = 0; round < 3000; ++round) {
    RawColumns columns;
    const int kind = round % 6;
    const size_t n = 1 + random() % 300;
    int64_t t = int64_t(random() % 4'000'000'000'000) - 1'000'000'000'000;
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const double value = any_value(random, kind);
      sum += kind < 2 ? value : 0;
      columns.push(t, round % 2 == 0 ? value : kind < 2 ? sum : value);
      t += round % 3 == 0 ? 15'000 : 1 + int64_t(random() % (round % 5 == 0 ? 100'000'000 : 40));
    }
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(columns)) << "round " << round;
  }
}

TEST(Codec, DamagedBytesNeverCrash) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto columns =
        regular(1 + random() % 400, [&](size_t) { return any_value(random, round % 6); });
    std::string chunk = encoded(columns, round % 3 == 0 ? Effort::Quick : Effort::Small);
    if (round % 2 == 0)
      chunk.resize(random() % chunk.size());
    else
      chunk[random() % chunk.size()] = char(random());
    RawColumns out;
    out.push(1, 1);
    const bool good = decode_chunk(chunk, out);
    EXPECT_TRUE(good || out.size() == 1u);
  }
}

TEST(Codec, AFinishedDayIsCodedByEntropy) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(100, 20);
  double sum = 0;
  const auto counter =
      regular(5760, [&](size_t) { return std::round(sum += noise(random)) / 100; });
  const std::string quick = encoded(counter), small = encoded(counter, Effort::Small);
  EXPECT_EQ(value_codec_of(quick), ValueCodec::Decimal);
  EXPECT_EQ(value_codec_of(small), ValueCodec::Entropy);
  // A normal distribution of that width has log2(20 * sqrt(2 pi e)) = 6.37 bits.
  EXPECT_LT(double(small.size()) * 8 / 5760, 6.37 * 1.02);
  EXPECT_LT(double(small.size()), double(quick.size()) * 0.93);
  const auto rare = regular(5760, [&](size_t i) { return i % 97 == 3 ? 1.0 : 0.0; });
  EXPECT_LT(encoded(rare, Effort::Small).size(), encoded(rare).size());
  const auto sums = regular(5760, [&](size_t) { return sum += noise(random) * M_PI; });
  EXPECT_EQ(value_codec_of(encoded(sums, Effort::Small)), ValueCodec::Binary);
  EXPECT_LT(double(encoded(sums, Effort::Small).size()), double(encoded(sums).size()) * 0.9);
  const auto beyond = regular(5760, [&](size_t i) { return 4e16 + 8 * double(i * i % 1000); });
  EXPECT_EQ(value_codec_of(encoded(beyond, Effort::Small)), ValueCodec::Binary);
  for (const auto& each : {counter, rare, sums, beyond}) expect_round_trip(each);
}

TEST(Codec, ADayIsEnteredInTheMiddle) {
  std::mt19937_64 random(7);
  for (const double factor : {1.0, 0.01, 1.0 / 3}) {
    double sum = 1000;
    const auto noise = regular(5760, [&](size_t) { return double(random() % 1000) * factor; });
    const auto counter =
        regular(5760, [&](size_t) { return sum += double(random() % 50) * factor; });
    const auto ramp = regular(5760, [&](size_t i) {
      return double(i * i) * 0.5 * factor + double(random() % 3) * factor;
    });
    for (const RawColumns& day : {noise, counter, ramp}) {
      expect_round_trip(day, Effort::Small);
      const std::string chunk = encoded(day, Effort::Small);
      if (!takes_marks(chunk)) continue;
      ChunkMarks marks;
      RawColumns last;
      ASSERT_TRUE(decode_chunk_between(chunk, day.t.back(), day.t.back(), marks, last));
      EXPECT_EQ(marks.size(), (day.size() - 2 + kMarkEvery - 1) / kMarkEvery);
    }
  }
}

TEST(MarkCache, KeepsWhatIsAskedFor) {
  MarkCache cache(20'000);
  const auto key = [](int i) { return MarkCache::key_of("chunk " + std::to_string(i)); };
  EXPECT_NE(key(1), key(2));
  EXPECT_EQ(key(1), key(1));
  EXPECT_EQ(cache.find(key(0)), nullptr);
  for (int i = 0; i < 1000; ++i) {
    cache.put(key(i), ChunkMarks(3));
    ASSERT_NE(cache.find(key(0)), nullptr) << i;  // in use all the time
    ASSERT_NE(cache.find(key(i)), nullptr);
  }
  EXPECT_EQ(cache.find(key(1)), nullptr);
}

TEST(Codec, BinaryKeepsWhatIsNoNumber) {
  auto columns = regular(1000, [](size_t i) { return std::ldexp(double(i) + 1000, -70) * M_PI; });
  columns.v[0] = stale_marker();
  columns.v[10] = -0.0;
  columns.v[11] = HUGE_VAL;
  columns.v[999] = normal_nan();
  EXPECT_EQ(value_codec_of(encoded(columns, Effort::Small)), ValueCodec::Binary);
  expect_round_trip(columns);
  columns.v[500] = std::numeric_limits<double>::denorm_min();
  EXPECT_NE(value_codec_of(encoded(columns, Effort::Small)), ValueCodec::Binary);
  expect_round_trip(columns);
}

TEST(Entropy, AnythingRoundTrips) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 600; ++round) {
    std::vector<int64_t> values(1 + random() % 3000);
    const int shift = round % 64;
    for (auto& v : values) {
      v = int64_t(random()) >> shift;
      if (round % 5 == 0 && random() % 100 != 0) v = round;          // one value, rarely another
      if (round % 7 == 0) v = int64_t(random() % 8 * random() % 9);  // skewed
    }
    if (round % 11 == 0) values.assign(values.size(), INT64_MIN);
    if (round % 13 == 0) values.back() = INT64_MAX;
    std::string out;
    entropy_code(values, out);
    EXPECT_LT(double(out.size()), double(entropy_size(values)) * 1.03 + 40) << round;
    out += "rest";
    std::vector<int64_t> back(values.size());
    ByteReader in(out);
    ASSERT_TRUE(entropy_decode(in, back)) << round;
    ASSERT_EQ(back, values) << round;
    ASSERT_EQ(in.left(), 4u);
    for (int damage = 0; damage < 4; ++damage) {
      std::string bad = out;
      bad[random() % bad.size()] = char(random());
      if (damage == 3) bad.resize(random() % bad.size());
      ByteReader damaged(bad);
      std::vector<int64_t> some(values.size());
      static_cast<void>(entropy_decode(damaged, some));  // any answer, but no crash
    }
  }
}

TEST(Pack, SizeIsWhatPackingAppends) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> values(1 + random() % 400);
    for (auto& v : values) v = int64_t(random() >> (random() % 20 == 0 ? 0 : round % 64));
    std::string out;
    pack_ints(values, out);
    EXPECT_EQ(out.size(), packed_size(values));
    std::vector<int64_t> back(values.size());
    ByteReader in(out);
    ASSERT_TRUE(unpack_ints(in, back));
    EXPECT_EQ(back, values);
    EXPECT_TRUE(in.done());
  }
}

}  // namespace
}  // namespace vagt::tsdb
