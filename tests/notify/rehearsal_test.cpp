#include "notify/rehearsal/rehearsal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vagt::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Timestamp kStart = from_millis(1'780'300'800'000);

// Everything goes to the chat by alert name and instance, critical alerts to the phone.
Config two_receivers() {
  Config config;
  config.route.receiver = "chat";
  config.route.group_by = std::vector<std::string>{"alertname", "instance"};
  RouteConfig& critical = config.route.routes.emplace_back();
  critical.receiver = "phone";
  critical.matchers = {Matcher::equal("severity", "critical")};
  for (const char* name : {"chat", "phone"}) {
    ReceiverConfig& receiver = config.receivers.emplace_back();
    receiver.name = name;
    receiver.integrations.emplace_back(WebhookConfig{});
  }
  return config;
}

RehearsedAlert alert(const std::string& name, const std::string& gpu, Duration from,
                     std::optional<Duration> to, const std::string& severity = "critical") {
  RehearsedAlert alert;
  alert.labels =
      Labels::of({{"alertname", name}, {"gpu", gpu}, {"instance", "a"}, {"severity", severity}});
  alert.from = kStart + from;
  if (to) alert.to = kStart + *to;
  return alert;
}

std::vector<std::string> account(const std::vector<RehearsedMessage>& messages) {
  std::vector<std::string> lines;
  for (const RehearsedMessage& m : messages) {
    std::string line = std::to_string((m.at - kStart) / seconds(1)) + " " + m.receiver + " " +
                       std::string(reason_text(m.reason));
    for (const size_t i : m.firing) line += " " + std::to_string(i);
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(Rehearsal, GroupsAlertsAndTellsOnceAndAtTheEnd) {
  const auto messages = rehearse(
      two_receivers(),
      {alert("Hot", "1", seconds(0), minutes(20)), alert("Hot", "2", seconds(10), minutes(20)),
       alert("Hot", "3", minutes(3), minutes(20)),
       alert("Full", "", minutes(1), minutes(2), "warning")},
      kStart + hours(1));
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0].reason, NotifyReason::First);
  EXPECT_EQ(messages[0].at, kStart + seconds(30));
  EXPECT_THAT(messages[0].firing, ElementsAre(0, 1));
  EXPECT_EQ(messages[1].receiver, "chat");
  EXPECT_EQ(messages[2].reason, NotifyReason::NewAlerts) << account(messages)[2];
  EXPECT_EQ(messages[2].at, kStart + seconds(330));
  EXPECT_EQ(messages[4].reason, NotifyReason::AllResolved);
}

TEST(Rehearsal, TellsNobodyWhatIsOverBeforeTheWait) {
  EXPECT_THAT(
      rehearse(two_receivers(), {alert("Hot", "1", seconds(0), seconds(20))}, kStart + hours(1)),
      IsEmpty());
}

TEST(Rehearsal, LeavesOutWhatIsInhibitedOrSilenced) {
  Config config = two_receivers();
  config.inhibit_rules = {{"",
                           {Matcher::equal("alertname", "HostDown")},
                           {Matcher::equal("alertname", "Hot")},
                           {"instance"}}};
  Silence silence;
  silence.id = "s";
  silence.matcher_sets = {{Matcher::equal("alertname", "Full")}};
  silence.starts_at = kStart - hours(1), silence.ends_at = kStart + hours(5);
  const auto messages = rehearse(
      config,
      {alert("HostDown", "", seconds(0), std::nullopt), alert("Hot", "1", seconds(5), std::nullopt),
       alert("Full", "", minutes(1), std::nullopt, "warning")},
      kStart + hours(1), {silence});
  EXPECT_THAT(account(messages),
              ElementsAre("30 phone " + std::string(reason_text(NotifyReason::First)) + " 0"));
}

TEST(Rehearsal, RepeatsAndOpensAgain) {
  const auto messages =
      rehearse(two_receivers(),
               {alert("Hot", "1", seconds(0), hours(5)), alert("Hot", "1", hours(8), std::nullopt)},
               kStart + hours(9));
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[1].reason, NotifyReason::Repeat);
  EXPECT_EQ(messages[2].reason, NotifyReason::AllResolved);
  EXPECT_EQ(messages[3].reason, NotifyReason::First);
  EXPECT_THAT(messages[3].firing, ElementsAre(1));
}

}  // namespace
}  // namespace vagt::notify
