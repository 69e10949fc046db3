// The pure parts one by one.
#include <gmock/gmock.h>

#include "notify/api_json.h"
#include "notify/matchers.h"
#include "notify/mute_time.h"
#include "notify/notification.h"
#include "notify/notification_log.h"
#include "notify/receivers/mail_message.h"
#include "notify/receivers/sns.h"
#include "notify/route.h"
#include "notify/silence.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::IsOk;
using test::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;

Timestamp at(std::string_view text) { return *parse_rfc3339(text); }

std::string canonical(std::string_view text, MatcherSyntax syntax = MatcherSyntax::Fallback) {
  auto parsed = parse_matchers(text, syntax);
  return parsed.ok() ? matchers_text(*parsed) : "error: " + parsed.error().message();
}

TEST(Matchers, ClassicAndUtf8) {
  EXPECT_EQ(canonical("{foo=~\"a|b\", bar!=baz,}"), R"({bar!="baz",foo=~"a|b"})");
  EXPECT_EQ(canonical("{foo=bar\\n}"), R"({foo="bar\n"})");  // only the classic grammar takes it
  EXPECT_EQ(canonical(R"("a b"="c\"d")"), R"({"a b"="c\"d"})");
  EXPECT_EQ(canonical("a=b=c"), R"({a="b=c"})");
  EXPECT_THAT(canonical("a=b=c", MatcherSyntax::Utf8), HasSubstr("error"));
  EXPECT_THAT(canonical(R"("a b"=c)", MatcherSyntax::Classic), HasSubstr("bad matcher format"));
  EXPECT_THAT(parse_matcher("{a=b}"),
              StatusIs(Code::InvalidArgument, "unexpected open or close brace"));
  EXPECT_THAT(parse_matcher("a=~["), StatusIs(Code::InvalidArgument));
}

// Field case A10.
TEST(MuteTime, ZonesAndTheirClockChanges) {
  TimeInterval office;
  office.times = {*parse_time_range("08:00", "17:00")};
  office.weekdays = {*parse_weekday_range("monday:friday")};
  office.location = "Europe/Stockholm";
  EXPECT_FALSE(office.contains(at("2026-03-27T06:59:00Z")));
  EXPECT_TRUE(office.contains(at("2026-03-27T07:00:00Z")));
  EXPECT_FALSE(office.contains(at("2026-03-30T05:59:00Z")));
  EXPECT_TRUE(office.contains(at("2026-03-30T06:00:00Z")));
  EXPECT_TRUE(office.contains(at("2026-03-30T14:59:00Z")));
  EXPECT_FALSE(office.contains(at("2026-03-30T15:00:00Z")));

  TimeInterval night;
  night.times = {*parse_time_range("02:00", "03:00")};
  night.location = "Europe/Stockholm";
  EXPECT_FALSE(night.contains(at("2026-03-29T00:59:00Z")));
  EXPECT_FALSE(night.contains(at("2026-03-29T01:00:00Z")));
  EXPECT_TRUE(night.contains(at("2026-10-25T00:30:00Z")));
  EXPECT_TRUE(night.contains(at("2026-10-25T01:30:00Z")));
  EXPECT_FALSE(night.contains(at("2026-10-25T02:00:00Z")));

  TimeInterval month_end;
  month_end.days_of_month = {*parse_day_of_month_range("-1")};
  month_end.location = "America/New_York";
  EXPECT_FALSE(month_end.contains(at("2027-03-30T16:00:00Z")));
  EXPECT_FALSE(month_end.contains(at("2027-03-31T03:59:00Z")));
  EXPECT_TRUE(month_end.contains(at("2027-03-31T04:00:00Z")));
  EXPECT_TRUE(month_end.contains(at("2027-04-01T03:59:00Z")));
  EXPECT_FALSE(month_end.contains(at("2027-04-01T04:00:00Z")));

  EXPECT_THAT(parse_time_range("22:00", "07:00"), StatusIs(Code::InvalidArgument, "split"));
  EXPECT_THAT(parse_time_range("22:00", "24:00"), IsOk());
  EXPECT_THAT(parse_time_range("08:00", "00:00"), StatusIs(Code::InvalidArgument));
  EXPECT_THAT(check_location("Nowhere/City"), StatusIs(Code::InvalidArgument, "unknown time zone"));
}

TEST(Route, InheritsContinuesAndFallsBack) {
  RouteConfig root;
  root.receiver = "default";
  root.group_by = {{"alertname"}};
  RouteConfig first, second, inner;
  first.receiver = "a";
  first.matchers = {Matcher::equal("team", "gpu")};
  first.continue_matching = true;
  inner.matchers = {Matcher::equal("severity", "page")};
  inner.receiver = "pager";
  first.routes = {inner};
  second.matchers = {Matcher::equal("team", "gpu")};
  root.routes = {first, second};
  const auto tree = Route::build(root);
  std::vector<std::string> names;
  for (const Route* route : tree->match(Labels::of({{"team", "gpu"}, {"severity", "page"}}))) {
    names.push_back(route->options().receiver);
  }
  EXPECT_THAT(names, ElementsAre("pager", "default"));
  EXPECT_EQ(tree->match(Labels::of({{"x", "y"}}))[0], tree.get());
  EXPECT_EQ(tree->routes()[0]->routes()[0]->key(), R"({}/{team="gpu"}/{severity="page"})");
}

TEST(NotificationLog, NotifiesWhenSomethingChanged) {
  const Timestamp now = at("2026-01-01T00:00:00Z");
  LogEntry last;
  last.firing = {1, 2};
  last.sent_at = now;
  const auto reason = [&](const LogEntry* entry, std::vector<uint64_t> firing,
                          std::vector<uint64_t> resolved, Duration later = seconds(1)) {
    return needs_notification(entry, firing, resolved, true, hours(1), now + later);
  };
  EXPECT_EQ(reason(nullptr, {}, {1}), NotifyReason::None);
  EXPECT_EQ(reason(nullptr, {1}, {}), NotifyReason::First);
  EXPECT_EQ(reason(&last, {1, 2}, {}), NotifyReason::None);
  EXPECT_EQ(reason(&last, {1, 3}, {}), NotifyReason::NewAlerts);
  EXPECT_EQ(reason(&last, {1}, {2}), NotifyReason::SomeResolved);
  EXPECT_EQ(reason(&last, {}, {1, 2}), NotifyReason::AllResolved);
  EXPECT_EQ(reason(&last, {1, 2}, {}, hours(2)), NotifyReason::Repeat);
  const auto copy = decode_log_entry(encode_log_entry(last));
  ASSERT_THAT(copy, IsOk());
  EXPECT_EQ(copy->firing, last.firing);
  EXPECT_THAT(decode_log_entry("\x01\x05"), StatusIs(Code::Corruption));
}

TEST(Silences, UpdatesKeepTheIdOnlyWhenTheyMay) {
  SilenceStore store({}, hours(1));
  const Timestamp now = at("2026-01-01T00:00:00Z");
  Silence s;
  s.matcher_sets = {{Matcher::equal("a", "b")}};
  s.starts_at = now - minutes(5);
  s.ends_at = now + hours(1);
  auto made = store.put(s, now, "id-1");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(store.find("id-1")->starts_at, now) << "a start in the past is now";
  s = *store.find("id-1");
  s.ends_at = now + hours(2);
  EXPECT_EQ(store.put(s, now + minutes(1), "id-2")->id, "id-1");
  s.matcher_sets = {{Matcher::equal("a", "c")}};
  EXPECT_EQ(store.put(s, now + minutes(2), "id-3")->id, "id-3");
  EXPECT_EQ(store.find("id-1")->state(now + minutes(2)), SilenceState::Expired);
  s.id = "nope";
  EXPECT_THAT(store.put(s, now, "id-4"), StatusIs(Code::NotFound));
  s.id.clear();
  s.matcher_sets = {{*Matcher::make(MatchOp::Regex, "a", ".*")}};
  EXPECT_THAT(store.put(s, now, "id-5"),
              StatusIs(Code::InvalidArgument, "must not match the empty string"));
  s.matcher_sets = {{*Matcher::make(MatchOp::NotEqual, "a", "z")}};
  EXPECT_THAT(store.put(s, now, "id-6"), IsOk());
  EXPECT_THAT(store.expire("id-6", now), IsOk());
  EXPECT_THAT(store.silencing(Labels::of({{"a", "c"}}), now + minutes(3)), ElementsAre("id-3"));
  EXPECT_THAT(store.collect_garbage(now + hours(2)), ElementsAre("id-1", "id-6"));
}

TEST(Payload, OrderAndCuts) {
  const auto make = [](Labels labels) {
    NotifyAlert a;
    a.labels = std::move(labels);
    return std::make_shared<const NotifyAlert>(a);
  };
  std::vector<AlertPtr> alerts = {
      make(Labels::of({{"gpu", "2"}})), make(Labels::of({{"gpu", "10"}})),
      make(Labels::of({{"job", "b"}, {"x", "1"}})), make(Labels::of({{"job", "a"}}))};
  sort_for_payload(alerts);
  std::vector<std::string> order;
  for (const auto& a : alerts) order.push_back(label_set_text(a->labels));
  EXPECT_THAT(order,
              ElementsAre(R"({job="a"})", R"({job="b", x="1"})", R"({gpu="10"})", R"({gpu="2"})"));
  EXPECT_EQ(truncate_runes("é🔥é🔥", 3), "é🔥…");
  EXPECT_EQ(truncate_runes("abc", 3), "abc");
  EXPECT_EQ(truncate_bytes("ééé", 5), "é…");
  EXPECT_EQ(quote_regex("ops.team"), "ops\\.team");
}

TEST(Mail, EncodesHeadersAndBodies) {
  EXPECT_EQ(encode_header("plain [1]"), "plain [1]");
  EXPECT_EQ(encode_header("é x"), "=?utf-8?q?=C3=A9_x?=");
  EXPECT_EQ(quoted_printable("a=b \nc"), "a=3Db=20\r\nc");
  EXPECT_THAT(*mail_addresses("a@x.example, B <b@x.example>"),
              ElementsAre("a@x.example", "b@x.example"));
  EXPECT_THAT(mail_addresses("nobody"), StatusIs(Code::InvalidArgument));
  for (const auto& line :
       {quoted_printable(std::string(500, 'x')), quoted_printable(std::string(500, '='))}) {
    for (size_t from = 0, end = 0; (end = line.find("\r\n", from)) != std::string::npos;
         from = end + 2) {
      EXPECT_LE(end - from, 76u);
    }
  }
}

TEST(Sns, SignsAsAmazonDocuments) {
  const SigV4 keys{"AKIDEXAMPLE", "us-east-1", "sns",
                   Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
  const std::string one = sign_v4(keys, "sns.us-east-1.amazonaws.com", "/", "Action=Publish",
                                  at("2015-08-30T12:36:00Z"));
  EXPECT_THAT(one, HasSubstr("Credential=AKIDEXAMPLE/20150830/us-east-1/sns/aws4_request, "
                             "SignedHeaders=content-type;host;x-amz-date, Signature="));
  EXPECT_NE(one, sign_v4(keys, "sns.us-east-1.amazonaws.com", "/", "Action=Publish&x=1",
                         at("2015-08-30T12:36:00Z")));
}

TEST(Api, RefusesAsTheRealOneDoes) {
  EXPECT_EQ(parse_posted_alerts("[{]").error->status, 400);
  EXPECT_EQ(parse_posted_alerts("{}").error->status, 400);
  EXPECT_EQ(parse_posted_alerts(R"([{"annotations":{}}])").error->status, 422);
  EXPECT_EQ(parse_posted_alerts(R"([{"labels":{"a":1}}])").error->status, 400);
  const auto fine =
      parse_posted_alerts(R"([{"labels":{"a":"b","c":""},"endsAt":"0001-01-01T00:00:00Z"}])");
  ASSERT_FALSE(fine.error);
  EXPECT_EQ(fine.alerts[0].labels, Labels::of({{"a", "b"}}));
  EXPECT_FALSE(fine.alerts[0].ends_at);
  const auto silence = parse_posted_silence(
      R"({"matchers":[{"name":"a","value":"b","isRegex":false}],"startsAt":"2026-01-01T00:00:00Z",)"
      R"("endsAt":"2026-01-02T00:00:00Z","createdBy":"me","comment":"c"})");
  ASSERT_FALSE(silence.error);
  EXPECT_EQ(silence.silence.matcher_sets[0][0], Matcher::equal("a", "b"));
  EXPECT_EQ(parse_posted_silence("{}").error->status, 422);
  const auto query = parse_alert_query({{"filter", "a=\"b\""}, {"active", "maybe"}});
  ASSERT_THAT(query, IsOk());
  EXPECT_FALSE(query->active);
  EXPECT_THAT(parse_alert_query({{"filter", "a"}}), StatusIs(Code::InvalidArgument));
}

}  // namespace
}  // namespace vagt::notify
