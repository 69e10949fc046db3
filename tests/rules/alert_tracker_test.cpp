#include "rules/alert_tracker.h"

#include "rules/state_store.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using std::chrono::minutes;
using test::IsOk;
using test::StatusIs;

Timestamp at(int minute) { return from_millis(0) + minutes(minute); }
AlertCandidate candidate(const char* host, double value = 1) {
  return {Labels::of({{"alertname", "A"}, {"host", host}}), std::make_shared<Annotations>(), value};
}
AlertTracker tracker(int hold, int keep = 0, size_t limit = 0) {
  return AlertTracker({minutes(hold), minutes(keep), limit});
}
Status update(AlertTracker& t, int minute, std::vector<AlertCandidate> list) {
  return t.update(std::move(list), at(minute));
}

TEST(AlertTracker, WaitsOutItsFor) {
  AlertTracker t = tracker(3);
  for (int m = 0; m < 3; ++m) {
    ASSERT_THAT(update(t, m, {candidate("a")}), IsOk());
    EXPECT_EQ(t.state(), AlertState::Pending) << m;
    EXPECT_TRUE(t.take_due(at(m), minutes(1), minutes(1)).empty());
  }
  ASSERT_THAT(update(t, 3, {candidate("a", 7)}), IsOk());
  EXPECT_EQ(t.state(), AlertState::Firing);
  const std::vector<Alert> due = t.take_due(at(3), minutes(1), minutes(1));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].active_at, at(0));
  EXPECT_EQ(due[0].fired_at, at(3));
  EXPECT_EQ(due[0].value, 7);
  EXPECT_EQ(due[0].valid_until, at(7));
}

TEST(AlertTracker, APendingAlertThatVanishesBeginsAnew) {
  AlertTracker t = tracker(2);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  ASSERT_THAT(update(t, 1, {}), IsOk());
  EXPECT_EQ(t.active(), 0u);
  EXPECT_EQ(t.take_dropped().size(), 1u);
  ASSERT_THAT(update(t, 2, {candidate("a")}), IsOk());
  EXPECT_EQ(t.alerts().begin()->second.active_at, at(2));
}

TEST(AlertTracker, KeepsFiringThenResolvesAndForgets) {
  AlertTracker t = tracker(0, 3);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  for (int m = 1; m <= 3; ++m) {
    ASSERT_THAT(update(t, m, {}), IsOk());
    EXPECT_EQ(t.state(), AlertState::Firing) << m;
  }
  EXPECT_EQ(t.alerts().begin()->second.keep_firing_since, at(1));
  ASSERT_THAT(update(t, 4, {}), IsOk());
  EXPECT_EQ(t.state(), AlertState::Inactive);
  EXPECT_EQ(t.alerts().begin()->second.resolved_at, at(4));
  ASSERT_THAT(update(t, 19, {}), IsOk());
  EXPECT_EQ(t.alerts().size(), 1u);  // kept for 15 minutes
  ASSERT_THAT(update(t, 20, {}), IsOk());
  EXPECT_TRUE(t.alerts().empty());
}

TEST(AlertTracker, ReturningWhileKeptResetsTheClock) {
  AlertTracker t = tracker(0, 3);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  ASSERT_THAT(update(t, 1, {}), IsOk());
  ASSERT_THAT(update(t, 2, {candidate("a")}), IsOk());
  EXPECT_FALSE(t.alerts().begin()->second.keep_firing_since.has_value());
  EXPECT_EQ(t.alerts().begin()->second.active_at, at(0));
}

TEST(AlertTracker, SendsAgainAfterTheDelayAndTheResolvedOnes) {
  AlertTracker t = tracker(0);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  EXPECT_EQ(t.take_due(at(0), minutes(1), minutes(1)).size(), 1u);
  ASSERT_THAT(update(t, 1, {candidate("a")}), IsOk());
  EXPECT_EQ(t.take_due(at(1), minutes(1), minutes(1)).size(), 0u);  // not older than the delay
  ASSERT_THAT(update(t, 2, {candidate("a")}), IsOk());
  EXPECT_EQ(t.take_due(at(2), minutes(1), minutes(1)).size(), 1u);
  ASSERT_THAT(update(t, 3, {}), IsOk());
  const std::vector<Alert> due = t.take_due(at(3), minutes(1), minutes(1));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].resolved_at, at(3));
  ASSERT_THAT(update(t, 4, {}), IsOk());
  EXPECT_EQ(t.take_due(at(4), minutes(1), minutes(1)).size(), 0u);
  ASSERT_THAT(update(t, 5, {}), IsOk());
  EXPECT_EQ(t.take_due(at(5), minutes(1), minutes(1)).size(), 1u);
}

TEST(AlertTracker, RefusesClashesWithoutAChange) {
  AlertTracker t = tracker(0);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  EXPECT_THAT(
      update(t, 1, {candidate("b"), candidate("b")}),
      StatusIs(Code::InvalidArgument,
               "vector contains metrics with the same labelset after applying alert labels"));
  EXPECT_EQ(t.active(), 1u);
}

TEST(AlertTracker, ForgetsAllBeyondItsLimit) {
  AlertTracker t = tracker(0, 0, 1);
  EXPECT_THAT(update(t, 0, {candidate("a"), candidate("b")}),
              StatusIs(Code::LimitExceeded, "exceeded limit of 1 with 2 alerts"));
  EXPECT_EQ(t.active(), 0u);
}

TEST(AlertTracker, RaisingForLeavesAFiringAlertFiring) {
  AlertTracker t = tracker(0);
  ASSERT_THAT(update(t, 0, {candidate("a")}), IsOk());
  t.set_options({minutes(10), {}, 0});
  ASSERT_THAT(update(t, 1, {candidate("a")}), IsOk());
  EXPECT_EQ(t.state(), AlertState::Firing);
}

TEST(AlertRecord, ComesBackAsItWas) {
  TrackedAlert a;
  a.labels = Labels::of({{"alertname", "A"}, {"x", "\n"}});
  a.annotations = std::make_shared<Annotations>(Annotations{{"summary", "hot"}});
  a.state = AlertState::Firing;
  a.value = 91.5;
  a.active_at = at(1), a.fired_at = at(2), a.keep_firing_since = at(3), a.last_sent_at = at(4);
  const std::string record = encode_alert(a);
  const Result<TrackedAlert> b = decode_alert(record);
  ASSERT_THAT(b, IsOk());
  EXPECT_EQ(encode_alert(*b), record);
  EXPECT_EQ(b->labels, a.labels);
  EXPECT_FALSE(b->resolved_at.has_value());
  for (size_t n = 0; n < record.size(); ++n) {
    EXPECT_THAT(decode_alert(record.substr(0, n)), StatusIs(Code::Corruption)) << n;
  }
}

}  // namespace
}  // namespace vagt::rules
