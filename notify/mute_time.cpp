#include "notify/mute_time.h"

#include <date/tz.h>

#include <algorithm>
#include <array>

#include "base/labels.h"
#include "base/number_text.h"

namespace vagt::notify {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The zone; null when the system does not know it.
const date::time_zone* find_zone(const std::string& name) {
  try {
    return date::locate_zone(name.empty() ? "UTC" : name);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// "a" or "a:b", both ends through `one`.
template <class One>
Result<IntRange> parse_range(std::string_view text, One one) {
  const std::string whole = lower(text);
  const size_t colon = whole.find(':');
  VAGT_TRY(int begin, one(whole.substr(0, colon)));
  if (colon == std::string::npos) return IntRange{begin, begin};
  VAGT_TRY(int end, one(whole.substr(colon + 1)));
  return IntRange{begin, end};
}

template <class Names>
int index_in(const Names& names, std::string_view word) {
  const auto it = std::find(names.begin(), names.end(), word);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

Result<int> parse_minutes(std::string_view text) {
  const auto bad = [&] {
    return Status::invalid("couldn't parse timestamp " + std::string(text) + ", invalid format");
  };
  if (text.size() != 5 || text[2] != ':') return bad();
  for (const size_t i : {0, 1, 3, 4}) {
    if (text[i] < '0' || text[i] > '9') return bad();
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (minutes > 59 || hours > 24 || (hours == 24 && minutes > 0)) return bad();
  return hours * 60 + minutes;
}

template <class Range>
bool within(const std::vector<Range>& ranges, int value) {
  if (ranges.empty()) return true;
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return value >= r.begin && value <= r.end; });
}

bool within_days(const std::vector<IntRange>& ranges, int day, int last_day) {
  if (ranges.empty()) return true;
  for (const IntRange& r : ranges) {
    const int begin = r.begin < 0 ? last_day + r.begin + 1 : r.begin;
    const int end = r.end < 0 ? last_day + r.end + 1 : r.end;
    if (begin > last_day) continue;
    if (day >= std::max(begin, 1) && day <= std::min(end, last_day)) return true;
  }
  return false;
}

}  // namespace

Result<IntRange> parse_weekday_range(std::string_view text) {
  VAGT_TRY(IntRange range, parse_range(text, [](const std::string& word) -> Result<int> {
             const int day = index_in(kWeekdays, word);
             if (day < 0) return Status::invalid(word + " is not a valid weekday");
             return day;
           }));
  if (range.begin > range.end) return Status::invalid("start day cannot be before end day");
  return range;
}

Result<IntRange> parse_day_of_month_range(std::string_view text) {
  VAGT_TRY(IntRange range, parse_range(text, [](const std::string& word) -> Result<int> {
             const auto day = parse_int(word);
             if (!day) return Status::invalid(word + " is not a valid day of the month");
             if (*day == 0 || *day > 31 || *day < -31) {
               return Status::invalid(word + " is not a valid day of the month: out of range");
             }
             return static_cast<int>(*day);
           }));
  if (range.begin < 0 && range.end > 0) {
    return Status::invalid("end day must be negative if start day is negative");
  }
  // A month of 28 days is the strictest in which a mixed range must make sense.
  const auto position = [](int day) { return day < 0 ? day + 31 + 1 : day; };
  if (position(range.begin) > position(range.end)) {
    return Status::invalid("end day " + std::to_string(range.end) + " is always before start day " +
                           std::to_string(range.begin));
  }
  return range;
}

Result<IntRange> parse_month_range(std::string_view text) {
  VAGT_TRY(IntRange range, parse_range(text, [](const std::string& word) -> Result<int> {
             if (const int month = index_in(kMonths, word); month >= 0) return month + 1;
             const auto number = parse_int(word);
             if (!number || *number < 1 || *number > 12) {
               return Status::invalid(word + " is not a valid month");
             }
             return static_cast<int>(*number);
           }));
  if (range.begin > range.end) {
    return Status::invalid("end month " + std::to_string(range.end) + " is before start month " +
                           std::to_string(range.begin));
  }
  return range;
}

Result<IntRange> parse_year_range(std::string_view text) {
  VAGT_TRY(IntRange range, parse_range(text, [](const std::string& word) -> Result<int> {
             const auto year = parse_int(word);
             if (!year || *year < 0 || *year > 99999)
               return Status::invalid(word + " is not a valid year");
             return static_cast<int>(*year);
           }));
  if (range.begin > range.end) {
    return Status::invalid("end year " + std::to_string(range.end) + " is before start year " +
                           std::to_string(range.begin));
  }
  return range;
}

Result<MinuteRange> parse_time_range(std::string_view start, std::string_view end) {
  if (start.empty() || end.empty()) {
    return Status::invalid("both start and end times must be provided");
  }
  VAGT_TRY(int begin, parse_minutes(start));
  VAGT_TRY(int until, parse_minutes(end));
  if (begin >= until) {
    return Status::invalid(
        "start time cannot be equal or greater than end time (split a range over midnight in "
        "two: " +
        std::string(start) + "-24:00 and 00:00-" + std::string(end) + ")");
  }
  return MinuteRange{begin, until};
}

Status check_location(const std::string& location) {
  if (find_zone(location) == nullptr) return Status::invalid("unknown time zone " + location);
  return {};
}

bool TimeInterval::contains(Timestamp t) const {
  const date::time_zone* zone = find_zone(location);
  if (zone == nullptr) return false;
  const auto local = zone->to_local(t);
  const auto day = date::floor<date::days>(local);
  const date::year_month_day ymd(day);
  const date::year_month_day_last last(ymd.year(), date::month_day_last(ymd.month()));
  const auto minute = std::chrono::duration_cast<std::chrono::minutes>(local - day).count();
  const bool in_time =
      times.empty() || std::any_of(times.begin(), times.end(), [&](const MinuteRange& r) {
        return minute >= r.begin && minute < r.end;
      });
  return in_time && within(weekdays, static_cast<int>(date::weekday(day).c_encoding())) &&
         within_days(days_of_month, static_cast<int>(static_cast<unsigned>(ymd.day())),
                     static_cast<int>(static_cast<unsigned>(last.day()))) &&
         within(months, static_cast<int>(static_cast<unsigned>(ymd.month()))) &&
         within(years, static_cast<int>(ymd.year()));
}

bool NamedTimeInterval::contains(Timestamp t) const {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const TimeInterval& i) { return i.contains(t); });
}

}  // namespace vagt::notify
