#include "base/time.h"

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;

TEST(ParseDuration, Units) {
  EXPECT_EQ(parse_duration("15s").value(), 15s);
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("1y2w3d").value(), 24h * (365 + 14 + 3));
  EXPECT_EQ(parse_duration("5ms").value(), 5ms);
  EXPECT_EQ(parse_duration("0").value(), 0ms);
}

TEST(ParseDuration, Refusals) {
  EXPECT_THAT(parse_duration(""), StatusIs(Code::InvalidArgument, "empty duration string"));
  for (const char* text : {"1", "-1s", "1s1m", "1m1m", "1.5h", "s", "1 s", "1S"})
    EXPECT_THAT(parse_duration(text),
                StatusIs(Code::InvalidArgument, "not a valid duration string"))
        << text;
  EXPECT_THAT(parse_duration("99999y"), StatusIs(Code::InvalidArgument, "duration out of range"));
}

TEST(FormatDuration, IsPrometheus) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(24h * 90), "90d");
  EXPECT_EQ(format_duration(24h * 14), "2w");
  EXPECT_EQ(format_duration(24h * 365), "1y");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
  EXPECT_EQ(format_duration(1h + 1ms), "1h1ms");
}

TEST(FormatGoDuration, IsGo) {
  EXPECT_EQ(format_go_duration(0ns), "0s");
  EXPECT_EQ(format_go_duration(1h), "1h0m0s");
  EXPECT_EQ(format_go_duration(1500ms), "1.5s");
  EXPECT_EQ(format_go_duration(90s), "1m30s");
  EXPECT_EQ(format_go_duration(1500us), "1.5ms");
  EXPECT_EQ(format_go_duration(-2ns), "-2ns");
}

TEST(Rfc3339, BothWays) {
  const Timestamp t = parse_rfc3339("2026-03-29T02:30:00.25+02:00").value();
  EXPECT_EQ(format_rfc3339(t), "2026-03-29T00:30:00.25Z");
  EXPECT_EQ(to_millis(parse_rfc3339("1970-01-01T00:00:00Z").value()), 0);
  EXPECT_EQ(format_rfc3339(from_millis(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, Refusals) {
  for (const char* text :
       {"2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "-026-01-01T00:00:00Z"})
    EXPECT_THAT(parse_rfc3339(text), StatusIs(Code::InvalidArgument)) << text;
}

TEST(SystemClock, ASleeperStopsWhenAsked) {
  SystemClock clock;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(clock.sleep_until(clock.now() + 1h, stop.get_token()));
  EXPECT_TRUE(clock.sleep_until(clock.now() - 1s, {}));
}

TEST(ManualClock, AdvancingWakesASleeper) {
  test::ManualClock clock;
  const Timestamp due = clock.now() + 1h;
  bool woke = false;
  std::jthread sleeper([&](std::stop_token stop) { woke = clock.sleep_until(due, stop); });
  clock.advance(1h);
  sleeper.join();
  EXPECT_TRUE(woke);
}

}  // namespace
}  // namespace vagt
