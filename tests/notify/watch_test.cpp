// The whole of notify on a clock that the test moves: who is told what, when, and after a kill.
#include <gmock/gmock.h>

#include "tests/notify/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::IsOk;
using test::StatusIs;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Labels alert(std::string_view name, std::string_view host = "n1") {
  return Labels::of({{"alertname", name}, {"host", host}});
}
Matcher equal(std::string name, std::string value) {
  return Matcher::equal(std::move(name), std::move(value));
}

TEST(Watch, FirstPageAfterGroupWaitAndTogether) {
  Watch w;
  w.apply(small_config());
  ASSERT_THAT(w.applied, IsOk());
  w.post(alert("Hot", "n1"));
  w.run_for(milliseconds(500));
  w.post(alert("Hot", "n2"));
  EXPECT_EQ(w.sent(), 0u);
  w.run_for(milliseconds(600));
  ASSERT_EQ(w.sent(), 1u);
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("\"host\":\"n1\""));
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("\"host\":\"n2\""));
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("first notification"));
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr(R"("groupKey":"{}:{alertname=\"Hot\"}")"));
}

// Field case A7: repeats come at the first flush after the repeat interval.
TEST(Watch, RepeatIntervalIsRoundedUpToFlushes) {
  Watch w;
  w.apply(small_config());
  const Timestamp start = w.clock.now();
  w.post(alert("Hot"), hours(1));
  std::vector<int64_t> at;
  for (int i = 0; i < 240; ++i) {
    const size_t before = w.sent();
    w.run_for(milliseconds(100));
    if (w.sent() > before) at.push_back((w.clock.now() - start) / seconds(1));
  }
  EXPECT_THAT(at, testing::ElementsAre(1, 11, 21));
}

TEST(Watch, ResolvedIsToldOnceAndTheGroupEnds) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  w.post(alert("Hot"), Duration(-100));
  w.run_for(seconds(20));
  ASSERT_EQ(w.sent(), 2u);
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr(R"("status":"resolved")"));
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr("all alerts resolved"));
  EXPECT_THAT(w.manager->groups({}), IsEmpty());
  for (const auto& [key, value] : w.kv.records) EXPECT_THAT(key, HasSubstr("notify/log/"));
}

TEST(Watch, FiredAndResolvedBeforeTheFirstFlushTellsNobody) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), milliseconds(300));
  w.run_for(seconds(20));
  EXPECT_EQ(w.sent(), 0u);
}

TEST(Watch, AnOldStartDoesNotWait) {
  Watch w;
  w.apply(small_config());
  PostedAlert posted;
  posted.labels = alert("Hot");
  posted.starts_at = w.clock.now() - minutes(5);
  ASSERT_THAT(w.manager->put_alerts({posted}), IsOk());
  EXPECT_EQ(w.sent(), 1u);
}

TEST(Watch, FailuresAreTriedAgainUntilTheyPass) {
  Watch w;
  w.apply(small_config());
  int failures = 3;
  w.transport.answer = [&](const auto&) {
    return FakeTransport::status(failures-- > 0 ? 503 : 200);
  };
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(6));
  EXPECT_EQ(w.sent(), 4u);
  const DeliveryView shown = w.manager->recent_deliveries().front();
  EXPECT_TRUE(shown.sent);
  EXPECT_EQ(shown.failed_attempts, 3);
  EXPECT_EQ(shown.detail, "") << "what failed before it went through is over";
}

// The server may have taken in what it gave no answer to: a second attempt has to be the same
// event.
TEST(Watch, AMatrixMessageKeepsItsTransactionOverAttempts) {
  Watch w;
  Config config = small_config();
  MatrixConfig matrix;
  matrix.homeserver_url = "http://m.example";
  matrix.room_id = "!r:m.example";
  matrix.access_token = Secret("t");
  matrix.send_resolved = true;
  config.receivers[0].integrations = {matrix};
  w.apply(config);
  w.transport.answer = [&](const auto&) {
    return FakeTransport::status(w.sent() < 3 ? 502 : 200, "{}");
  };
  w.post(alert("Hot"), seconds(10));
  w.run_for(seconds(6));
  ASSERT_EQ(w.sent(), 3u);
  EXPECT_EQ(w.transport.sent[0].url, w.transport.sent[1].url);
  EXPECT_EQ(w.transport.sent[0].url, w.transport.sent[2].url);
  w.run_for(seconds(20));
  ASSERT_EQ(w.sent(), 4u);
  EXPECT_NE(w.transport.sent[3].url, w.transport.sent[2].url) << "the resolve is another event";
}

TEST(Watch, ARefusalEndsTheAttemptButNotTheWatch) {
  Watch w;
  w.apply(small_config());
  w.transport.answer = [](const auto&) { return FakeTransport::status(404, "gone"); };
  w.post(alert("Hot"), hours(1));
  w.run_for(milliseconds(5900));
  EXPECT_EQ(w.sent(), 1u);
  w.run_for(seconds(1));
  EXPECT_EQ(w.sent(), 2u);
  const auto recent = w.manager->recent_deliveries();
  EXPECT_FALSE(recent.front().sent);
  EXPECT_THAT(recent.front().detail, HasSubstr("404"));
}

TEST(Watch, AReceiverThatHangsHoldsNobodyElse) {
  Watch w;
  Config config = small_config();
  config.receivers.push_back(webhook_receiver("slow"));
  RouteConfig child;
  child.receiver = "slow";
  child.matchers = {equal("alertname", "Slow")};
  config.route.routes.push_back(child);
  w.apply(config);
  w.transport.hold = true;
  w.post(alert("Slow"), hours(1));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u);
  w.transport.hold = false;
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  EXPECT_EQ(w.sent(), 2u);
  // The hanging one is given up a second after its deadline of ten, and the next tick tries again.
  w.run_for(seconds(12));
  EXPECT_GE(w.sent(), 3u);
}

TEST(Watch, AlertsSilencesTimersAndDeliveriesSurviveAKill) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), hours(1));
  Silence silence;
  silence.matcher_sets = {{equal("alertname", "Quiet")}};
  silence.starts_at = w.clock.now();
  silence.ends_at = w.clock.now() + hours(1);
  ASSERT_THAT(w.manager->put_silence(silence), IsOk());
  w.run_for(milliseconds(500));
  w.kill_and_restart();  // pending in its group_wait
  w.run_for(milliseconds(700));
  ASSERT_EQ(w.sent(), 1u) << "the timer carried on";
  w.kill_and_restart();  // told
  w.post(alert("Quiet"), hours(1));
  w.run_for(seconds(4));
  EXPECT_EQ(w.sent(), 1u) << "neither repeated nor leaked";
  EXPECT_THAT(w.manager->silences(), SizeIs(1));
  w.post(alert("Hot"), Duration(-100));
  w.kill_and_restart();  // resolved, not told yet
  w.run_for(seconds(6));
  ASSERT_EQ(w.sent(), 2u);
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr(R"("status":"resolved")"));
  w.kill_and_restart();
  w.run_for(minutes(1));
  EXPECT_EQ(w.sent(), 2u);
  EXPECT_TRUE(w.kv.synced);
}

TEST(Watch, AnAlertThatLapsedWhileWeWereDownIsNotResolvedByThat) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), minutes(4));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u);
  w.clock.advance(minutes(30));
  w.kill_and_restart();
  w.run_for(minutes(3), seconds(1));
  for (const auto& sent : w.transport.sent)
    EXPECT_THAT(sent.body, Not(HasSubstr(R"("status":"resolved")")));
  w.run_for(minutes(2), seconds(1));  // its source is silent
  EXPECT_THAT(w.transport.sent.back().body, HasSubstr(R"("status":"resolved")"));
}

TEST(Watch, KilledWhileTheProviderThinksAsksAgain) {
  Watch w;
  w.apply(small_config());
  w.transport.hold = true;
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u);
  w.transport.hold = false;
  w.kill_and_restart();
  w.run_for(seconds(6));
  ASSERT_EQ(w.sent(), 2u) << "no answer was on record";
  EXPECT_THAT(w.transport.sent[0].body, Not(HasSubstr("perhaps a repeat")));
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr("first notification, perhaps a repeat"));
  for (const auto& [key, value] : w.kv.records) EXPECT_THAT(key, Not(HasSubstr("sending")));
}

TEST(Watch, WhatMayHaveBeenToldBeforeAKillIsToldToBeOver) {
  Watch w;
  w.apply(small_config());
  w.transport.hold = true;
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u) << "it may have arrived";
  w.transport.hold = false;
  w.kill_and_restart();
  w.post(alert("Hot"), Duration(-100));
  w.run_for(seconds(8));
  ASSERT_EQ(w.sent(), 2u);
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr(R"("status":"resolved")"));
  EXPECT_THAT(w.transport.sent[1].body, Not(HasSubstr("perhaps a repeat")));
}

TEST(Watch, TwoKillsDoNotHideWhatMayHaveBeenTold) {
  Watch w;
  w.apply(small_config());
  w.transport.hold = true;
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  w.kill_and_restart();  // firing may have arrived
  w.post(alert("Hot"), Duration(-100));
  w.run_for(seconds(8));
  ASSERT_EQ(w.sent(), 2u);
  w.transport.hold = false;
  w.kill_and_restart();  // and so may the end
  w.run_for(seconds(8));
  ASSERT_EQ(w.sent(), 3u);
  EXPECT_THAT(w.transport.sent[2].body, HasSubstr("all alerts resolved, perhaps a repeat"));
  w.kill_and_restart();
  w.run_for(seconds(20));
  EXPECT_EQ(w.sent(), 3u);
}

TEST(Watch, APostOfManyAlertsIsTakenWhole) {
  Watch w;
  w.apply(small_config());
  std::vector<PostedAlert> many(2500);
  for (size_t i = 0; i < many.size(); ++i) {
    many[i].labels = alert("Hot", "n" + std::to_string(i));
    many[i].ends_at = w.clock.now() + hours(1);
  }
  many[1700].labels = Labels();
  EXPECT_THAT(w.manager->put_alerts(many), StatusIs(Code::InvalidArgument));
  EXPECT_THAT(w.manager->alerts({}), SizeIs(2499));
  w.run_for(seconds(2));
  EXPECT_EQ(w.sent(), 1u);
  EXPECT_THAT(w.manager->put_alerts({}), IsOk());
}

// What a reader holds does not change under its eyes, and the next one sees the change.
TEST(Watch, InhibitionSeenByReadersFollowsEveryChange) {
  Watch w;
  Config config = small_config();
  InhibitRuleConfig rule;
  rule.source_matchers = {equal("alertname", "Down")};
  rule.target_matchers = {equal("alertname", "Hot")};
  config.inhibit_rules.push_back(rule);
  w.apply(config);
  w.post(alert("Hot"), hours(1));
  const auto before = w.manager->alerts({});
  ASSERT_THAT(before, SizeIs(1));
  w.post(alert("Down"), hours(1));
  EXPECT_EQ(before[0].status.state, "active");
  AlertQuery hot;
  hot.filters = {equal("alertname", "Hot")};
  ASSERT_THAT(w.manager->alerts(hot), SizeIs(1));
  EXPECT_EQ(w.manager->alerts(hot)[0].status.state, "suppressed");
  w.post(alert("Down"), Duration(-100));
  EXPECT_EQ(w.manager->alerts(hot)[0].status.state, "active");
}

TEST(Watch, AFullDiskDoesNotStopPaging) {
  Watch w;
  w.apply(small_config());
  w.kv.failing = true;
  w.post(alert("Hot"), hours(1));
  EXPECT_THAT(w.posted, IsOk());
  w.run_for(seconds(2));
  EXPECT_EQ(w.sent(), 1u);
  w.kv.failing = false;
  w.post(alert("Other"), hours(1));
  w.kill_and_restart();
  w.run_for(seconds(4));
  EXPECT_EQ(w.sent(), 2u) << "what had failed was written later: only Other is told";
}

TEST(Watch, ASilencedAlertIsNotTold) {
  Watch w;
  w.apply(small_config());
  Silence silence;
  silence.matcher_sets = {{equal("host", "n1")}};
  silence.starts_at = w.clock.now();
  silence.ends_at = w.clock.now() + seconds(30);
  const auto id = w.manager->put_silence(silence);
  ASSERT_THAT(id, IsOk());
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(10));
  EXPECT_EQ(w.sent(), 0u);
  const auto views = w.manager->alerts({});
  ASSERT_THAT(views, SizeIs(1));
  EXPECT_EQ(views[0].status.state, "suppressed");
  EXPECT_THAT(views[0].status.silenced_by, testing::ElementsAre(*id));
  ASSERT_THAT(w.manager->expire_silence(*id), IsOk());
  w.run_for(seconds(6));
  EXPECT_EQ(w.sent(), 1u);
}

// Field case A6.
TEST(Watch, InhibitionTakesMissingLabelsAsEqual) {
  Watch w;
  Config config = small_config();
  config.route.group_by = {{"..."}};
  InhibitRuleConfig rule;
  rule.source_matchers = {equal("alertname", "NodeDown")};
  rule.target_matchers = {equal("severity", "warning")};
  rule.equal = {"node"};
  config.inhibit_rules.push_back(rule);
  w.apply(config);
  w.post(Labels::of({{"alertname", "NodeDown"}}), hours(1));
  w.post(Labels::of({{"alertname", "W1"}, {"severity", "warning"}}), hours(1));
  w.post(Labels::of({{"alertname", "W2"}, {"severity", "warning"}, {"node", "n7"}}), hours(1));
  w.run_for(seconds(2));
  std::string bodies;
  for (const auto& sent : w.transport.sent) bodies += sent.body;
  EXPECT_THAT(bodies, Not(HasSubstr("W1")));
  EXPECT_THAT(bodies, HasSubstr("W2"));
  w.post(Labels::of({{"alertname", "NodeDown"}, {"node", "n7"}}), hours(1));
  w.transport.sent.clear();
  w.run_for(seconds(30));
  for (const auto& sent : w.transport.sent) EXPECT_THAT(sent.body, Not(HasSubstr("W2")));
}

// Field case A8: a template that fails takes nothing with it.
TEST(Watch, ABrokenTemplateSendsAPlainPage) {
  for (const bool at_run_time : {false, true}) {
    Watch w;
    Config config = small_config();
    SlackConfig slack;
    slack.api_url = Secret("http://slack.example/");
    slack.channel = "#gpu";
    slack.text = at_run_time ? "{{ (index .Alerts 9).Labels }}" : "{{ .CommonLabels.alertname }}";
    if (!at_run_time) slack.title = R"({{ template "no.such.name" . }})";
    config.receivers[0].integrations = {slack};
    w.apply(config);
    ASSERT_THAT(w.applied, IsOk());
    w.post(alert("GpuLost"), hours(1));
    w.run_for(seconds(3));
    ASSERT_EQ(w.sent(), 1u);
    EXPECT_THAT(w.transport.sent[0].body, HasSubstr("GpuLost"));
    EXPECT_THAT(w.transport.sent[0].body,
                HasSubstr(at_run_time ? "template of text failed" : "template of title failed"));
    EXPECT_THAT(w.manager->recent_deliveries().at(0).problems, SizeIs(1));
  }
}

TEST(Watch, ARefusedMessageIsSentAgainAsPlainText) {
  Watch w;
  Config config = small_config();
  DiscordConfig discord;
  discord.webhook_url = Secret("http://discord.example/");
  config.receivers[0].integrations = {discord};
  w.apply(config);
  w.transport.answer = [&](const auto&) {
    return FakeTransport::status(w.sent() == 1 ? 400 : 204, "too fancy");
  };
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 2u);
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr("refused the first form"));
  EXPECT_TRUE(w.manager->recent_deliveries().at(0).sent);
}

// Field case A9.
TEST(Watch, PostedAlertsAreCheckedOneByOne) {
  Watch w;
  Config config = small_config();
  config.resolve_timeout = seconds(5);
  config.route.group_interval = seconds(2);
  w.apply(config);
  PostedAlert ended, bare, reversed;
  ended.labels = alert("A");
  ended.ends_at = w.clock.now() - minutes(10);
  EXPECT_THAT(w.manager->put_alerts({ended}), IsOk());
  PostedAlert good;
  good.labels = alert("B");
  EXPECT_THAT(w.manager->put_alerts({good, bare}),
              StatusIs(Code::InvalidArgument, "at least one label pair required"));
  reversed.labels = alert("R");
  reversed.starts_at = w.clock.now();
  reversed.ends_at = w.clock.now() - seconds(1);
  EXPECT_THAT(w.manager->put_alerts({reversed}), StatusIs(Code::InvalidArgument));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u);
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("\"B\""));
  w.run_for(seconds(5));
  ASSERT_EQ(w.sent(), 2u) << "resolved by its timeout at the next flush";
  EXPECT_THAT(w.transport.sent[1].body, HasSubstr(R"("status":"resolved")"));
}

TEST(Watch, MuteTimesHoldAlertsBackUntilTheyEnd) {
  Watch w;
  Config config = small_config();
  RouteConfig child;
  child.matchers = {equal("alertname", "Hot")};
  child.mute_time_intervals = {"always"};
  config.route.routes.push_back(child);
  config.time_intervals.push_back({"always", {TimeInterval{}}});
  w.apply(config);
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(20));
  EXPECT_EQ(w.sent(), 0u);
  const auto groups = w.manager->groups({});
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].alerts[0].status.muted_by, testing::ElementsAre("always"));
  config.time_intervals[0].intervals[0].years = {{1999, 1999}};
  w.apply(config);
  w.run_for(seconds(6));
  EXPECT_EQ(w.sent(), 1u);
}

TEST(Watch, AReloadRepeatsNothing) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  for (int i = 0; i < 5; ++i) {
    w.apply(small_config());
    w.run_for(milliseconds(200));
  }
  EXPECT_EQ(w.sent(), 1u);
}

TEST(Watch, AReloadTellsANewReceiverAtOnce) {
  Watch w;
  w.apply(small_config());
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  Config config = small_config();
  config.receivers.push_back(webhook_receiver("other"));
  config.route.receiver = "other";
  w.apply(config);
  w.run_for(milliseconds(200));
  ASSERT_EQ(w.sent(), 2u);
  EXPECT_EQ(w.transport.sent[1].url, "http://hook.example/other");
}

TEST(Watch, SendResolvedOffIsQuietButRemembers) {
  Watch w;
  Config config = small_config();
  config.receivers = {webhook_receiver("ops", false)};
  w.apply(config);
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  w.post(alert("Hot"), Duration(-10));
  w.run_for(seconds(10));
  EXPECT_EQ(w.sent(), 1u);
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  EXPECT_EQ(w.sent(), 2u);
}

TEST(Watch, RouteLabelsMayBuildOnEachOther) {
  Watch w;
  Config config = small_config();
  config.route.labels = {{"reason", "{{ .GroupLabels.alertname }}"},
                         {"text", R"(because {{ routeLabels "reason" }})"},
                         {"loop", R"({{ routeLabels "loop" }})"}};
  w.apply(config);
  w.post(alert("Hot"), hours(1));
  w.run_for(seconds(2));
  ASSERT_EQ(w.sent(), 1u);
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("because Hot"));
  EXPECT_THAT(w.transport.sent[0].body, HasSubstr("refers to itself"));
}

TEST(Watch, SaysWhenNobodyWouldBePaged) {
  Watch w;
  EXPECT_FALSE(w.manager->ready());
  EXPECT_THAT(w.manager->nobody_paged(), HasSubstr("no configuration"));
  Config config = small_config();
  config.receivers[0].integrations.clear();
  w.apply(config);
  EXPECT_TRUE(w.manager->ready());
  EXPECT_THAT(w.manager->nobody_paged(), HasSubstr("no receiver that a route leads to"));
  config.receivers.push_back(small_config().receivers[0]);  // one that no route leads to
  config.receivers.back().name = "forgotten";
  w.apply(config);
  EXPECT_THAT(w.manager->nobody_paged(), HasSubstr("no receiver that a route leads to"));
  w.apply(small_config());
  EXPECT_EQ(w.manager->nobody_paged(), "");
}

TEST(Watch, ATestPageGoesThroughTheReceiver) {
  Watch w;
  w.apply(small_config());
  PostedAlert test;
  test.labels = alert("Test");
  EXPECT_THAT(w.manager->send_test("nobody", test, seconds(5)), StatusIs(Code::NotFound));
  const auto outcome = w.manager->send_test("ops", test, seconds(5));
  ASSERT_THAT(outcome, IsOk());
  ASSERT_THAT(*outcome, SizeIs(1));
  EXPECT_TRUE((*outcome)[0].delivered);
}

// A month in seconds: a daily window, a flapping alert, hand-counted pages.
TEST(Watch, AMonthOfDailyWindows) {
  Watch w;
  w.clock.set(*parse_rfc3339("2026-03-01T00:00:00Z"));
  Config config = small_config();
  config.route.group_wait = seconds(30);
  config.route.group_interval = minutes(5);
  config.route.repeat_interval = hours(24 * 365);
  RouteConfig child;
  child.matchers = {equal("alertname", "Hot")};
  child.active_time_intervals = {"office"};
  config.route.routes.push_back(child);
  TimeInterval office;
  office.times = {{8 * 60, 17 * 60}};
  office.weekdays = {{1, 5}};
  office.location = "Europe/Stockholm";
  config.time_intervals.push_back({"office", {office}});
  w.apply(config);
  // Fires at noon UTC each day for two hours: within the window on the 22 working days of March
  // 2026.
  for (int day = 0; day < 31; ++day) {
    w.run_for(hours(12), minutes(5));
    w.post(alert("Hot"), hours(2));
    w.run_for(hours(12), minutes(5));
  }
  EXPECT_EQ(w.sent(), 44u) << "firing and resolved on each of 22 days";
}

}  // namespace
}  // namespace vagt::notify
