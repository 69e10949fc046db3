// A month of alerting on a clock that jumps from one due time to the next, against times worked out
// by hand: windows in a zone that changes its clocks, repeats, flapping.
#include <gmock/gmock.h>

#include "tests/notify/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::IsOk;

Timestamp at(const std::string& text) { return parse_rfc3339(text).value(); }
// "2026-03-02" and "07:00:30".
std::string stamp(const std::string& month, int day, const std::string& time) {
  return month + (day < 10 ? "-0" : "-") + std::to_string(day) + "T" + time + "Z";
}

NamedTimeInterval window(const std::string& name, int begin_hour, int end_hour, bool weekdays) {
  TimeInterval interval;
  interval.times = {{begin_hour * 60, end_hour * 60}};
  if (weekdays) interval.weekdays = {{1, 5}};
  interval.location = "Europe/Stockholm";
  return {name, {interval}};
}

RouteConfig route(const std::string& name, Duration repeat) {
  RouteConfig out;
  out.receiver = name;
  out.matchers = {Matcher::equal("alertname", name)};
  out.repeat_interval = repeat;
  return out;
}

class Month {
 public:
  explicit Month(const std::string& first) {
    watch_.clock.set(at(first));
    watch_.boot();
    Config config;
    config.route.receiver = "always";
    config.route.group_by = {{"alertname"}};
    config.route.group_wait = seconds(30);
    config.route.group_interval = minutes(5);
    for (const char* name : {"always", "office", "night"})
      config.receivers.push_back(webhook_receiver(name));
    config.time_intervals = {window("office", 8, 17, true), window("night", 2, 3, false)};
    config.route.routes = {route("office", hours(4)), route("night", hours(20)),
                           route("always", hours(12))};
    config.route.routes[0].active_time_intervals = {"office"};
    config.route.routes[1].active_time_intervals = {"night"};
    watch_.apply(config);
    EXPECT_THAT(watch_.applied, IsOk());
    watch_.transport.answer = [this](const FakeTransport::Sent& sent) {
      const bool firing = sent.body.find(R"("status":"firing")") != std::string::npos;
      told_[sent.url.substr(sent.url.rfind('/') + 1)].push_back(format_rfc3339(watch_.clock.now()) +
                                                                (firing ? "" : " resolved"));
      return FakeTransport::status(200);
    };
  }

  void run_until(Timestamp end) {
    while (true) {
      const auto next = watch_.manager->step(watch_.clock.now());
      const Timestamp now = watch_.clock.now();
      if (now >= end) return;
      watch_.clock.set(next ? std::clamp(*next, now + Duration(1), end) : end);
    }
  }
  void fire(const std::string& name) {
    watch_.post(Labels::of({{"alertname", name}}), hours(24 * 40));
  }
  void resolve(const std::string& name) {
    watch_.post(Labels::of({{"alertname", name}}), Duration(-100));
  }
  // Every day: fires at 10:00 and is over at 10:02, fires at 10:04 and is over at 10:07; fires at
  // 12:00:00 for 20 s.
  void run_flapping_days(const std::string& month, int days) {
    for (int day = 1; day <= days; ++day) {
      const auto then = [&](const char* time, bool firing) {
        run_until(at(stamp(month, day, time)));
        firing ? fire("always") : resolve("always");
      };
      then("10:00:00", true);
      then("10:02:00", false);
      then("10:04:00", true);
      then("10:07:00", false);
      then("12:00:00", true);
      then("12:00:20", false);
    }
    run_until(at(stamp(month, days, "23:59:59")));
  }
  const std::vector<std::string>& told(const std::string& receiver) { return told_[receiver]; }

 private:
  Watch watch_;
  std::map<std::string, std::vector<std::string>> told_;
};

// Days with these times of UTC, in order.
void add(std::vector<std::string>& out, const std::string& month, std::vector<int> days,
         std::vector<std::string> times) {
  for (const int day : days)
    for (const std::string& time : times) out.push_back(stamp(month, day, time));
}
std::vector<int> range(int first, int last) {
  std::vector<int> out;
  for (int day = first; day <= last; ++day) out.push_back(day);
  return out;
}
// The first flush after 10:00:00 is 30 s later; the next one finds it firing as before; the third
// finds it over. What was over before its first flush is told to nobody.
std::vector<std::string> flapping(const std::string& month, int days) {
  std::vector<std::string> out;
  for (int day = 1; day <= days; ++day) {
    out.push_back(stamp(month, day, "10:00:30"));
    out.push_back(stamp(month, day, "10:10:30") + " resolved");
  }
  return out;
}

// Flushes are 30 s after every fifth minute. A repeat is due when more than four hours have passed
// since the last: at the flush after 4 h 5 min. The clocks go forward on Sunday the 29th.
TEST(Month, MarchWithTheClocksGoingForward) {
  Month month("2026-03-01T00:00:00Z");
  month.fire("office");
  month.fire("night");
  month.run_flapping_days("2026-03", 31);

  std::vector<std::string> office;
  for (const int monday : {2, 9, 16, 23})
    add(office, "2026-03", range(monday, monday + 4), {"07:00:30", "11:05:30", "15:10:30"});
  add(office, "2026-03", {30, 31}, {"06:00:30", "10:05:30", "14:10:30"});
  EXPECT_EQ(month.told("office"), office);

  // On the 29th the hour from 02:00 to 03:00 does not exist.
  std::vector<std::string> night;
  add(night, "2026-03", range(1, 28), {"01:00:30"});
  add(night, "2026-03", {30, 31}, {"00:00:30"});
  EXPECT_EQ(month.told("night"), night);
  EXPECT_EQ(month.told("always"), flapping("2026-03", 31));
}

// The clocks go back on Sunday the 25th, when the hour from 02:00 to 03:00 comes twice and counts
// as one window of two hours.
TEST(Month, OctoberWithTheClocksGoingBack) {
  Month month("2026-10-01T00:00:00Z");
  month.fire("office");
  month.fire("night");
  month.run_flapping_days("2026-10", 31);

  std::vector<std::string> office;
  add(office, "2026-10", {1, 2}, {"06:00:30", "10:05:30", "14:10:30"});
  for (const int monday : {5, 12, 19})
    add(office, "2026-10", range(monday, monday + 4), {"06:00:30", "10:05:30", "14:10:30"});
  add(office, "2026-10", range(26, 30), {"07:00:30", "11:05:30", "15:10:30"});
  EXPECT_EQ(month.told("office"), office);

  std::vector<std::string> night;
  add(night, "2026-10", range(1, 25), {"00:00:30"});
  add(night, "2026-10", range(26, 31), {"01:00:30"});
  EXPECT_EQ(month.told("night"), night);
  EXPECT_EQ(month.told("always"), flapping("2026-10", 31));
}

}  // namespace
}  // namespace vagt::notify
