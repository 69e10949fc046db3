// Whatever goes into a chunk comes out bit for bit, and the cheap codecs are the ones chosen.
#include "tsdb/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/sample.h"
#include "tsdb/pack.h"

namespace vagt::tsdb {
namespace {

void expect_round_trip(const RawColumns& in) {
  std::string chunk;
  encode_chunk(in.t, in.v, chunk);
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
}

template <class F>
RawColumns regular(size_t n, F value) {
  RawColumns columns;
  for (size_t i = 0; i < n; ++i) columns.push(1'700'000'000'000 + int64_t(i) * 15'000, value(i));
  return columns;
}

std::string encoded(const RawColumns& in) {
  std::string chunk;
  encode_chunk(in.t, in.v, chunk);
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
        regular(1 + random() % 200, [&](size_t) { return any_value(random, round % 6); });
    std::string chunk = encoded(columns);
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
