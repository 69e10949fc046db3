// Time intervals that mute or activate routes: pure calendar arithmetic in a named zone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"

namespace vagt::notify {

struct IntRange {
  int begin = 0, end = 0;  // both inclusive
};
struct MinuteRange {
  int begin = 0, end = 0;  // minutes since midnight; end exclusive, at most 1440
};

// All fields that are given must hold; an empty list is no condition.
struct TimeInterval {
  std::vector<MinuteRange> times;
  std::vector<IntRange> weekdays;       // Sunday is 0
  std::vector<IntRange> days_of_month;  // 1…31, or -31…-1 counted from the month's end
  std::vector<IntRange> months;         // 1…12
  std::vector<IntRange> years;
  std::string location;  // IANA name; "" is UTC

  bool contains(Timestamp t) const;
};

// A named entry of time_intervals or mute_time_intervals: one of its parts must hold.
struct NamedTimeInterval {
  std::string name;
  std::vector<TimeInterval> intervals;
  bool contains(Timestamp t) const;
};

// The texts of alertmanager.yml to ranges; errors in Alertmanager's words.
Result<IntRange> parse_weekday_range(std::string_view text);
Result<IntRange> parse_day_of_month_range(std::string_view text);
Result<IntRange> parse_month_range(std::string_view text);
Result<IntRange> parse_year_range(std::string_view text);
Result<MinuteRange> parse_time_range(std::string_view start, std::string_view end);
// InvalidArgument: "unknown time zone …".
Status check_location(const std::string& location);

}  // namespace vagt::notify
