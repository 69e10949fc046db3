#include "engine/builtin_alerts.h"

#include <gmock/gmock.h>

#include "tests/support/manual_clock.h"

namespace vagt::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Recorder final : public AlertSink {
 public:
  void publish(std::span<const Alert> alerts) override {
    seen.insert(seen.end(), alerts.begin(), alerts.end());
  }
  std::vector<Alert> take() { return std::exchange(seen, {}); }
  std::vector<Alert> seen;
};

class BuiltinAlertsTest : public ::testing::Test {
 protected:
  std::vector<Alert> after(Duration wait) {
    clock_.advance(wait);
    alerts_.step(clock_.now());
    return sink_.take();
  }
  std::string disk_, series_;
  test::ManualClock clock_;
  Recorder sink_;
  base::Registry registry_;
  BuiltinAlerts alerts_{{{"Disk", "critical", "no room", [this] { return disk_; }},
                         {"Series", "warning", "too many", [this] { return series_; }}},
                        clock_,
                        sink_,
                        registry_};
};

TEST_F(BuiltinAlertsTest, ToldAtOnceAgainEveryMinuteAndWhenItEnds) {
  alerts_.set_external_labels(Labels::of({{"site", "cph"}, {"severity", "none"}}));
  alerts_.set_generator_url("http://vagt:9090");
  EXPECT_THAT(after(std::chrono::seconds(5)), IsEmpty());
  series_ = "metric m has 9 series";
  const auto first = after(std::chrono::seconds(5));
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].labels,
            Labels::of({{"alertname", "Series"}, {"severity", "warning"}, {"site", "cph"}}));
  EXPECT_EQ(first[0].annotations.at("summary"), "too many");
  EXPECT_EQ(first[0].annotations.at("description"), "metric m has 9 series");
  EXPECT_EQ(first[0].state, AlertState::Firing);
  EXPECT_EQ(first[0].active_at, clock_.now());
  EXPECT_EQ(first[0].generator_url, "http://vagt:9090");
  EXPECT_GE(first[0].valid_until, clock_.now() + std::chrono::minutes(2));
  EXPECT_THAT(registry_.render(), HasSubstr("vagt_builtin_alert{alertname=\"Series\"} 1"));
  EXPECT_THAT(registry_.render(), HasSubstr("vagt_builtin_alert{alertname=\"Disk\"} 0"));

  series_ = "metric m has 12 series";
  EXPECT_THAT(after(std::chrono::seconds(5)), IsEmpty());
  const auto again = after(std::chrono::seconds(60));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].annotations.at("description"), "metric m has 12 series");
  EXPECT_EQ(again[0].active_at, first[0].active_at);

  series_.clear();
  const auto ended = after(std::chrono::seconds(5));
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].state, AlertState::Inactive);
  EXPECT_EQ(ended[0].resolved_at, clock_.now());
  EXPECT_EQ(ended[0].labels, first[0].labels);
  EXPECT_THAT(after(std::chrono::minutes(1)), SizeIs(1)) << "an end is told again for a while";
  EXPECT_THAT(after(std::chrono::minutes(20)), IsEmpty());
}

TEST_F(BuiltinAlertsTest, WhatComesBackIsAnAlertOfItsOwn) {
  disk_ = "full";
  const auto first = after(std::chrono::seconds(5));
  disk_.clear();
  after(std::chrono::seconds(5));
  disk_ = "full again";
  const auto second = after(std::chrono::seconds(5));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].state, AlertState::Firing);
  EXPECT_FALSE(second[0].resolved_at);
  EXPECT_GT(second[0].active_at, first[0].active_at);
}

TEST_F(BuiltinAlertsTest, AClockThatGoesBackDoesNotSilenceIt) {
  disk_ = "full";
  after(std::chrono::seconds(5));
  EXPECT_THAT(after(-std::chrono::hours(1)), SizeIs(1));
}

}  // namespace
}  // namespace vagt::engine
