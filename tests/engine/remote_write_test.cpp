#include "engine/api/remote_write.h"

#include <snappy.h>

#include <cstring>

#include "base/matcher.h"
#include "tests/support/status_matchers.h"
#include "tsdb/memory_store.h"

namespace vagt::engine::api {
namespace {

using test::IsOk;
using test::StatusIs;

// A protobuf writer just large enough for the messages of remote write.
std::string varint(uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  return out + static_cast<char>(n);
}
std::string field(int number, std::string_view bytes) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
std::string label(std::string_view name, std::string_view value) {
  return field(1, field(1, name) + field(2, value));
}
std::string sample(double v, int64_t t) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &v, 8);
  return field(2,
               varint(1 << 3 | 1) + bytes + varint(2 << 3 | 0) + varint(static_cast<uint64_t>(t)));
}
std::string compressed(const std::string& message) {
  std::string out;
  snappy::Compress(message.data(), message.size(), &out);
  return out;
}

TEST(RemoteWrite, DecodesSeriesSamplesAndMetadata) {
  const std::string series = label("__name__", "up") + label("job", "gpu") + sample(1.5, -1000) +
                             sample(stale_marker(), 2000);
  const std::string metadata =
      varint(1 << 3) + varint(2) + field(2, "up") + field(4, "whether") + field(5, "");
  const auto request =
      decode_write_request(compressed(field(1, series) + field(3, metadata)), 1 << 20).value();
  ASSERT_EQ(request.series.size(), 1u);
  EXPECT_EQ(request.series[0].labels.to_string(), "up{job=\"gpu\"}");
  ASSERT_EQ(request.series[0].samples.size(), 2u);
  EXPECT_EQ(to_millis(request.series[0].samples[0].t), -1000);
  EXPECT_TRUE(is_stale(request.series[0].samples[1].v));
  EXPECT_EQ(request.metadata.at(0).second, (tsdb::Metadata{"gauge", "whether", ""}));
}

TEST(RemoteWrite, RefusesWhatIsMalformed) {
  EXPECT_THAT(decode_write_request("not snappy at all", 1 << 20), StatusIs(Code::InvalidArgument));
  const std::string series = label("__name__", "up") + sample(1, 1);
  const std::string whole = field(1, series);
  EXPECT_THAT(decode_write_request(compressed(whole.substr(0, whole.size() - 3)), 1 << 20),
              StatusIs(Code::InvalidArgument, "malformed"));
  EXPECT_THAT(decode_write_request(compressed(std::string(1000, 'x')), 100),
              StatusIs(Code::LimitExceeded));
}

// A sender throws a request away that was answered with 400: the good series must be in by then.
TEST(RemoteWrite, ASeriesWithBadLabelsDoesNotHoldUpTheRest) {
  const auto outcome_of = [](const std::string& bad) {
    tsdb::MemoryStore store;
    const std::string good = label("__name__", "b") + sample(3, 5);
    const auto request =
        decode_write_request(compressed(field(1, bad + sample(1, 5)) + field(1, good)), 1 << 20);
    return append_write_request(request.value(), store).value();
  };
  WriteOutcome outcome = outcome_of(label("job", "x"));
  EXPECT_EQ(outcome.stored, 1u);
  EXPECT_EQ(outcome.refused, 1u);
  EXPECT_THAT(outcome.first_refusal, StatusIs(Code::InvalidArgument, "no metric name"));
  outcome = outcome_of(label("__name__", "\xff"));
  EXPECT_EQ(outcome.stored, 1u);
  EXPECT_THAT(outcome.first_refusal, StatusIs(Code::InvalidArgument, "invalid label"));
  outcome = outcome_of(label("__name__", "a") + label("__name__", "b"));
  EXPECT_EQ(outcome.stored, 1u);
  EXPECT_FALSE(outcome.first_refusal.ok());
}

TEST(RemoteWrite, ARefusedSampleDoesNotHoldUpTheRest) {
  tsdb::MemoryStore store;
  const std::string newer = label("__name__", "a") + sample(1, 10'000'000) + sample(2, 1'000);
  const std::string other = label("__name__", "b") + sample(3, 5);
  const auto request =
      decode_write_request(compressed(field(1, newer) + field(1, other)), 1 << 20).value();
  const auto outcome = append_write_request(request, store).value();
  EXPECT_EQ(outcome.stored, 2u);
  EXPECT_EQ(outcome.refused, 1u);
  EXPECT_THAT(outcome.first_refusal, StatusIs(Code::OutOfOrder, "out of order sample"));
  const auto querier = store.querier(from_millis(0), from_millis(100));
  const std::vector<Matcher> matchers = {Matcher::equal("__name__", "b")};
  const auto cursor = querier->select(matchers, {from_millis(0), from_millis(100), ""});
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  cursor->read(columns, 10);
  EXPECT_EQ(columns.v, std::vector<double>{3});
}

}  // namespace
}  // namespace vagt::engine::api
