#include "base/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <limits>
#include <mutex>

namespace vagt {
namespace {

struct Unit {
  std::string_view name;
  int64_t millis;
};
// Largest first: the order they must be written in.
constexpr std::array<Unit, 7> kUnits = {{{"y", 365LL * 86'400'000},
                                         {"w", 7LL * 86'400'000},
                                         {"d", 86'400'000},
                                         {"h", 3'600'000},
                                         {"m", 60'000},
                                         {"s", 1000},
                                         {"ms", 1}}};

Status bad_duration(std::string_view text) {
  return Status::invalid(fmt::format("not a valid duration string: \"{}\"", text));
}

// Reads exactly `digits` digits at the front.
bool take_number(std::string_view& text, size_t digits, int& out) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, out);
  if (error != std::errc() || end != text.data() + digits || text[0] == '-') return false;
  text.remove_prefix(digits);
  return true;
}

bool take_char(std::string_view& text, char lower_case, char alternative) {
  if (text.empty() || (text[0] != lower_case && text[0] != alternative)) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456" to 123 ms; digits beyond milliseconds are cut.
bool take_fraction(std::string_view& text, int& millis) {
  millis = 0;
  if (text.empty() || text[0] != '.') return true;
  size_t i = 1;
  int scale = 100;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, scale /= 10)
    millis += scale * (text[i] - '0');
  if (i == 1) return false;
  text.remove_prefix(i);
  return true;
}

bool take_zone(std::string_view& text, int& offset_minutes) {
  offset_minutes = 0;
  if (take_char(text, 'Z', 'z')) return true;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (!take_number(text, 2, hours) || !take_char(text, ':', ':') || !take_number(text, 2, minutes))
    return false;
  if (hours > 23 || minutes > 59) return false;
  offset_minutes = sign * (hours * 60 + minutes);
  return true;
}

}  // namespace

Timestamp SystemClock::now() const {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

std::chrono::steady_clock::time_point SystemClock::steady_now() const {
  return std::chrono::steady_clock::now();
}

bool SystemClock::sleep_until(Timestamp until, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  // In slices, so that a wall clock set back or forward is noticed within a second.
  while (!stop.stop_requested()) {
    const Duration left = until - now();
    if (left <= Duration::zero()) return true;
    wake.wait_for(lock, stop, std::min<Duration>(left, std::chrono::seconds(1)),
                  [] { return false; });
  }
  return false;
}

Result<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return Status::invalid("empty duration string");
  if (text == "0") return Duration(0);
  std::string_view rest = text;
  int64_t total = 0;
  size_t next_unit = 0;
  while (!rest.empty()) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc::result_out_of_range) return Status::invalid("duration out of range");
    if (error != std::errc()) return bad_duration(text);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    size_t letters = 0;
    while (letters < rest.size() && (rest[letters] < '0' || rest[letters] > '9')) ++letters;
    size_t unit = next_unit;
    while (unit < kUnits.size() && kUnits[unit].name != rest.substr(0, letters)) ++unit;
    if (unit == kUnits.size()) return bad_duration(text);
    // Go counts in nanoseconds: its limit is 292 years.
    constexpr uint64_t kMaxMillis = std::numeric_limits<int64_t>::max() / 1'000'000;
    const auto millis = static_cast<uint64_t>(kUnits[unit].millis);
    if (number > kMaxMillis / millis || static_cast<uint64_t>(total) + number * millis > kMaxMillis)
      return Status::invalid("duration out of range");
    total += static_cast<int64_t>(number * millis);
    rest.remove_prefix(letters);
    next_unit = unit + 1;
  }
  return Duration(total);
}

std::string format_duration(Duration d) {
  int64_t left = d.count();
  if (left == 0) return "0s";
  std::string out;
  if (left < 0) {
    out = "-";
    left = -left;
  }
  for (const Unit& unit : kUnits) {
    // Years, weeks and days only when nothing smaller is left over, so that "90d" does not become
    // "12w6d".
    const bool exact_only = unit.millis >= 86'400'000 && unit.name != "d";
    if (exact_only ? left % unit.millis != 0 : left < unit.millis) continue;
    if (const int64_t n = left / unit.millis; n > 0) out += fmt::format("{}{}", n, unit.name);
    left %= unit.millis;
  }
  return out;
}

std::string format_go_duration(std::chrono::nanoseconds d) {
  using namespace std::chrono;
  if (d == nanoseconds::zero()) return "0s";
  const bool negative = d < nanoseconds::zero();
  // The magnitude as unsigned: the most negative value has no positive twin.
  const uint64_t ns =
      negative ? 0 - static_cast<uint64_t>(d.count()) : static_cast<uint64_t>(d.count());
  const auto with_fraction = [](uint64_t whole, uint64_t part, int digits) {
    std::string text = fmt::format("{}", whole);
    if (part == 0) return text;
    std::string fraction = fmt::format("{:0{}}", part, digits);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return text + "." + fraction;
  };
  std::string out = negative ? "-" : "";
  if (ns < 1'000) return out + fmt::format("{}ns", ns);
  if (ns < 1'000'000) return out + with_fraction(ns / 1'000, ns % 1'000, 3) + "µs";
  if (ns < 1'000'000'000) return out + with_fraction(ns / 1'000'000, ns % 1'000'000, 6) + "ms";
  const uint64_t seconds_total = ns / 1'000'000'000;
  const uint64_t hours = seconds_total / 3600, minutes = seconds_total / 60 % 60;
  if (hours > 0) out += fmt::format("{}h", hours);
  if (seconds_total >= 60) out += fmt::format("{}m", minutes);
  return out + with_fraction(seconds_total % 60, ns % 1'000'000'000, 9) + "s";
}

std::string format_rfc3339(Timestamp t) {
  using namespace std::chrono;
  const auto day = floor<days>(t);
  const year_month_day date(day);
  const hh_mm_ss time(t - day);
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  if (const auto millis = time.subseconds().count(); millis != 0) {
    std::string fraction = fmt::format(".{:03}", millis);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += fraction;
  }
  return out + "Z";
}

Result<Timestamp> parse_rfc3339(std::string_view text) {
  const auto bad = [original = text] {
    return Status::invalid(fmt::format("cannot parse \"{}\" to a valid timestamp", original));
  };
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0, zone = 0;
  if (!take_number(text, 4, year) || !take_char(text, '-', '-') || !take_number(text, 2, month) ||
      !take_char(text, '-', '-') || !take_number(text, 2, day) || !take_char(text, 'T', 't') ||
      !take_number(text, 2, hour) || !take_char(text, ':', ':') || !take_number(text, 2, minute) ||
      !take_char(text, ':', ':') || !take_number(text, 2, second) || !take_fraction(text, millis) ||
      !take_zone(text, zone) || !text.empty())
    return bad();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return bad();
  return Timestamp(std::chrono::sys_days(date).time_since_epoch()) + std::chrono::hours(hour) +
         std::chrono::minutes(minute - zone) + std::chrono::seconds(second) + Duration(millis);
}

}  // namespace vagt
