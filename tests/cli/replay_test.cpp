// vagtctl rules replay: what it asks for, and what it makes of the answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/replay_report.h"

namespace vagt::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 2026-06-01T12:00:00Z
constexpr Timestamp kNoon = from_millis(1'780'315'200'000);

rules::ReplayedAlert alert(const std::string& gpu, Timestamp at, std::optional<Duration> length) {
  rules::ReplayedAlert alert;
  alert.labels = Labels::of(
      {{"alertname", "Hot"}, {"gpu", gpu}, {"instance", "a:9500"}, {"severity", "critical"}});
  alert.active_at = at - minutes(5), alert.fired_at = at;
  if (length) alert.resolved_at = at + *length;
  return alert;
}

rules::Replay replay_with(std::vector<rules::ReplayedAlert> alerts) {
  rules::Replay replay;
  replay.from = kNoon - hours(24), replay.to = kNoon + hours(24);
  rules::ReplayedRule rule;
  rule.name = "Hot", rule.query = "temp > 90", rule.alerting = true;
  rule.labels = {{"severity", "critical"}}, rule.annotations = {{"summary", "It is hot."}};
  rule.alerts = std::move(alerts);
  replay.rules = {rule};
  return replay;
}

class ReplayReport : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(ReplayReport, CountsTimesFlapsAndNights) {
  const auto replay = replay_with(
      {alert("1", kNoon, minutes(10)), alert("1", kNoon + minutes(20), minutes(5)),
       alert("2", kNoon + minutes(20), minutes(5)), alert("1", kNoon + hours(11), std::nullopt)});
  const std::vector<AlertSummary> summaries = summarize(replay);
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].fired, 4u);
  EXPECT_EQ(summaries[0].flaps, 1u);
  EXPECT_EQ(summaries[0].nights, 1u);
  EXPECT_EQ(summaries[0].longest, hours(13));
  EXPECT_EQ(summaries[0].total, hours(13) + minutes(20));
  EXPECT_THAT(summary_table(summaries, false), HasSubstr("13h20m"));
}

TEST_F(ReplayReport, ScoresInSecondsFromTheBeginning) {
  const auto replay = replay_with({alert("1", kNoon, minutes(10)), alert("2", kNoon, {})});
  EXPECT_EQ(score_json(replay, "x"),
            "{\"x\":[{\"alert\":\"Hot\",\"labels\":{\"gpu\":\"1\",\"instance\":\"a:9500\","
            "\"severity\":\"critical\"},\"severity\":\"critical\",\"from\":86400,\"to\":87000,"
            "\"text\":\"temp > 90 It is hot.\"},{\"alert\":\"Hot\",\"labels\":{\"gpu\":\"2\","
            "\"instance\":\"a:9500\",\"severity\":\"critical\"},\"severity\":\"critical\","
            "\"from\":86400,\"to\":null,\"text\":\"temp > 90 It is hot.\"}]}\n");
}

TEST_F(ReplayReport, TellsWhatOnlyOneRuleSetHas) {
  net::HttpClient http(net::HttpClient::Options{});
  const SystemClock clock;
  std::ostringstream out, err;
  std::istringstream in;
  const Context context{out, err, in, http, clock, {}};
  const auto one = replay_with({alert("1", kNoon, minutes(10)), alert("2", kNoon, minutes(1))});
  const auto other = replay_with({alert("1", kNoon, minutes(4))});
  EXPECT_EQ(difference(context, one, one), "No alert differs.\n");
  const std::string text = difference(context, one, other);
  EXPECT_THAT(text, HasSubstr("+7m"));
  EXPECT_THAT(text, HasSubstr("Only with these rules:\n  2026-06-01 12:00:00 UTC        1m  "));
  EXPECT_THAT(text, HasSubstr("gpu=\"2\""));
  EXPECT_THAT(text, Not(HasSubstr("Only with the others")));
}

TEST_F(ReplayReport, AddsWhoWasTold) {
  const auto replay = replay_with({alert("1", kNoon, minutes(10)), alert("2", kNoon, minutes(5)),
                                   alert("3", kNoon + hours(12), minutes(5))});
  std::vector<AlertSummary> summaries = summarize(replay);
  using notify::NotifyReason;
  add_messages(replay,
               {{kNoon, "phone", {}, NotifyReason::First, {0}},
                {kNoon + minutes(6), "chat", {}, NotifyReason::NewAlerts, {0}},
                {kNoon + hours(12), "phone", {}, NotifyReason::First, {2}}},
               summaries);
  EXPECT_EQ(summaries[0].pages, 2u);
  EXPECT_EQ(summaries[0].night_pages, 1u);
  EXPECT_EQ(summaries[0].untold, 1u);
  EXPECT_THAT(summaries[0].receivers, ElementsAre("chat", "phone"));
}

}  // namespace
}  // namespace vagt::cli
