#include "template/go_layout.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <optional>

#include "base/labels.h"

namespace vagt::tmpl {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

enum class Part : uint8_t {
  Literal,
  LongMonth,
  ShortMonth,
  Month,
  Month2,
  LongDay,
  ShortDay,
  Day,
  DayBlank,
  Day2,
  YearDay,
  YearDayBlank,
  Hour24,
  Hour12,
  Hour12Two,
  Minute,
  Minute2,
  Second,
  Second2,
  Year,
  Year2,
  UpperPm,
  LowerPm,
  ZoneName,
  ZoneIso,
  ZoneIsoColon,
  ZoneIsoHour,
  ZoneIsoSeconds,
  Zone,
  ZoneColon,
  ZoneHour,
  ZoneSeconds,
  FractionZeros,
  FractionNines,
};
struct Piece {
  Part part;
  std::string_view text;
};
struct Pattern {
  std::string_view text;
  Part part;
};

// Longest first among those that share a beginning.
constexpr Pattern kPatterns[] = {
    {"January", Part::LongMonth},
    {"Jan", Part::ShortMonth},
    {"Monday", Part::LongDay},
    {"Mon", Part::ShortDay},
    {"MST", Part::ZoneName},
    {"2006", Part::Year},
    {"002", Part::YearDay},
    {"__2", Part::YearDayBlank},
    {"_2006", Part::Literal},
    {"_2", Part::DayBlank},
    {"01", Part::Month2},
    {"02", Part::Day2},
    {"03", Part::Hour12Two},
    {"04", Part::Minute2},
    {"05", Part::Second2},
    {"06", Part::Year2},
    {"15", Part::Hour24},
    {"PM", Part::UpperPm},
    {"pm", Part::LowerPm},
    {"-07:00:00", Part::ZoneSeconds},
    {"-07:00", Part::ZoneColon},
    {"-0700", Part::Zone},
    {"-07", Part::ZoneHour},
    {"Z07:00:00", Part::ZoneIsoSeconds},
    {"Z07:00", Part::ZoneIsoColon},
    {"Z0700", Part::ZoneIso},
    {"Z07", Part::ZoneIsoHour},
    {"1", Part::Month},
    {"2", Part::Day},
    {"3", Part::Hour12},
    {"4", Part::Minute},
    {"5", Part::Second},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ".000" or ",999" with no digit behind: a fraction of a second. Its length, 0 when it is none.
size_t fraction_size(std::string_view rest) {
  if (rest.size() < 2 || (rest[0] != '.' && rest[0] != ',') || (rest[1] != '0' && rest[1] != '9'))
    return 0;
  size_t end = 1;
  while (end < rest.size() && rest[end] == rest[1]) ++end;
  return end < rest.size() && is_digit(rest[end]) ? 0 : end;
}

// The first piece of `layout`: one element or a single literal byte.
Piece next_piece(std::string_view layout) {
  if (const size_t size = fraction_size(layout); size != 0) {
    return {layout[1] == '0' ? Part::FractionZeros : Part::FractionNines, layout.substr(0, size)};
  }
  for (const Pattern& pattern : kPatterns) {
    if (!layout.starts_with(pattern.text)) continue;
    if (pattern.part == Part::Literal) return {Part::Literal, layout.substr(0, 1)};
    if (pattern.part == Part::ShortMonth && layout.size() > 3 &&
        std::islower(static_cast<unsigned char>(layout[3])) != 0)
      continue;
    return {pattern.part, pattern.text};
  }
  return {Part::Literal, layout.substr(0, 1)};
}

std::string fraction(std::string_view piece, int32_t nanos, bool zeros) {
  const std::string digits = fmt::format("{:09}", nanos).substr(0, piece.size() - 1);
  if (zeros) return piece[0] + digits;
  const size_t last = digits.find_last_not_of('0');
  return last == std::string::npos ? "" : piece[0] + digits.substr(0, last + 1);
}

std::string zone_text(Part part, int offset) {
  const bool iso = part >= Part::ZoneIso && part <= Part::ZoneIsoSeconds;
  if (iso && offset == 0) return "Z";
  const int size = offset < 0 ? -offset : offset;
  const int hours = size / 3600, minutes = size / 60 % 60, seconds = size % 60;
  std::string out = fmt::format("{}{:02}", offset < 0 ? '-' : '+', hours);
  if (part == Part::ZoneHour || part == Part::ZoneIsoHour) return out;
  const bool colon = part != Part::Zone && part != Part::ZoneIso;
  out += fmt::format("{}{:02}", colon ? ":" : "", minutes);
  if (part == Part::ZoneSeconds || part == Part::ZoneIsoSeconds)
    out += fmt::format(":{:02}", seconds);
  return out;
}

std::string print_piece(const Piece& piece, const GoTime& t, const LayoutFields& f) {
  const int hour12 = f.hour % 12 == 0 ? 12 : f.hour % 12;
  switch (piece.part) {
    case Part::Literal:
      return std::string(piece.text);
    case Part::LongMonth:
      return std::string(month_name(f.month));
    case Part::ShortMonth:
      return std::string(month_name(f.month).substr(0, 3));
    case Part::Month:
      return std::to_string(f.month);
    case Part::Month2:
      return fmt::format("{:02}", f.month);
    case Part::LongDay:
      return std::string(weekday_name(f.weekday));
    case Part::ShortDay:
      return std::string(weekday_name(f.weekday).substr(0, 3));
    case Part::Day:
      return std::to_string(f.day);
    case Part::DayBlank:
      return fmt::format("{:2}", f.day);
    case Part::Day2:
      return fmt::format("{:02}", f.day);
    case Part::YearDay:
      return fmt::format("{:03}", f.year_day);
    case Part::YearDayBlank:
      return fmt::format("{:3}", f.year_day);
    case Part::Hour24:
      return fmt::format("{:02}", f.hour);
    case Part::Hour12:
      return std::to_string(hour12);
    case Part::Hour12Two:
      return fmt::format("{:02}", hour12);
    case Part::Minute:
      return std::to_string(f.minute);
    case Part::Minute2:
      return fmt::format("{:02}", f.minute);
    case Part::Second:
      return std::to_string(f.second);
    case Part::Second2:
      return fmt::format("{:02}", f.second);
    case Part::Year:
      return fmt::format("{:04}", f.year);
    case Part::Year2:
      return fmt::format("{:02}", ((f.year % 100) + 100) % 100);
    case Part::UpperPm:
      return f.hour >= 12 ? "PM" : "AM";
    case Part::LowerPm:
      return f.hour >= 12 ? "pm" : "am";
    case Part::ZoneName:
      return t.zone.empty() ? zone_text(Part::Zone, t.offset_seconds) : t.zone;
    case Part::FractionZeros:
      return fraction(piece.text, t.nanos, true);
    case Part::FractionNines:
      return fraction(piece.text, t.nanos, false);
    default:
      return zone_text(piece.part, t.offset_seconds);
  }
}

// -- parsing
// -----------------------------------------------------------------------------------------------------------

struct Parsed {
  LayoutFields fields;
  int32_t nanos = 0;
  int year_day = 0;
  bool pm = false, pm_set = false;
  std::optional<int> offset;
  std::string zone;
};

std::optional<int64_t> digits(std::string_view& text, size_t least, size_t most) {
  size_t n = 0;
  int64_t value = 0;
  while (n < most && n < text.size() && is_digit(text[n])) value = value * 10 + (text[n++] - '0');
  if (n < least) return std::nullopt;
  text.remove_prefix(n);
  return value;
}

template <size_t N>
std::optional<int> name_index(std::string_view& text, const std::array<std::string_view, N>& names,
                              bool full) {
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = full ? names[i] : names[i].substr(0, 3);
    if (text.size() < name.size()) continue;
    bool same = true;
    for (size_t k = 0; k < name.size() && same; ++k) same = (text[k] | 32) == (name[k] | 32);
    if (!same) continue;
    text.remove_prefix(name.size());
    return static_cast<int>(i);
  }
  return std::nullopt;
}

bool read_number(std::string_view& text, size_t least, size_t most, int64_t low, int64_t high,
                 int& out) {
  const auto value = digits(text, least, most);
  if (!value || *value < low || *value > high) return false;
  out = static_cast<int>(*value);
  return true;
}

bool read_fraction(std::string_view& text, size_t most, Parsed& out) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !is_digit(text[1])) return false;
  text.remove_prefix(1);
  int64_t value = 0;
  size_t n = 0;
  for (; !text.empty() && is_digit(text[0]) && n < most; ++n, text.remove_prefix(1)) {
    if (n < 9) value = value * 10 + (text[0] - '0');
  }
  for (; n < 9; ++n) value *= 10;
  out.nanos = static_cast<int32_t>(value);
  return true;
}

bool read_zone(Part part, std::string_view& text, Parsed& out) {
  const bool iso = part >= Part::ZoneIso && part <= Part::ZoneIsoSeconds;
  if (iso && text.starts_with('Z')) {
    text.remove_prefix(1);
    out.offset = 0;
    return true;
  }
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0, minutes = 0, seconds = 0;
  if (!read_number(text, 2, 2, 0, 24, hours)) return false;
  const bool colon = part != Part::Zone && part != Part::ZoneIso;
  const auto field = [&](int& value) {
    if (colon && !text.starts_with(':')) return false;
    if (colon) text.remove_prefix(1);
    return read_number(text, 2, 2, 0, 60, value);
  };
  if (part != Part::ZoneHour && part != Part::ZoneIsoHour && !field(minutes)) return false;
  if ((part == Part::ZoneSeconds || part == Part::ZoneIsoSeconds) && !field(seconds)) return false;
  out.offset = sign * (hours * 3600 + minutes * 60 + seconds);
  return true;
}

bool read_zone_name(std::string_view& text, Parsed& out) {
  size_t n = 0;
  while (n < text.size() && text[n] >= 'A' && text[n] <= 'Z') ++n;
  if (n < 3 || n > 5) return false;
  out.zone = std::string(text.substr(0, n));
  text.remove_prefix(n);
  return true;
}

bool read_half_day(std::string_view& text, Parsed& out, bool upper) {
  if (text.size() < 2) return false;
  const std::string_view word = text.substr(0, 2);
  out.pm = word == (upper ? "PM" : "pm");
  if (!out.pm && word != (upper ? "AM" : "am")) return false;
  out.pm_set = true;
  text.remove_prefix(2);
  return true;
}

void skip_blanks(std::string_view& text, int at_most) {
  for (int i = 0; i < at_most && text.starts_with(' '); ++i) text.remove_prefix(1);
}

bool read_piece(const Piece& piece, std::string_view& text, Parsed& out) {
  LayoutFields& f = out.fields;
  switch (piece.part) {
    case Part::Literal:
      if (!text.starts_with(piece.text)) return false;
      text.remove_prefix(piece.text.size());
      return true;
    case Part::LongMonth:
    case Part::ShortMonth: {
      const auto month = name_index(text, kMonths, piece.part == Part::LongMonth);
      if (month) f.month = *month + 1;
      return month.has_value();
    }
    case Part::LongDay:
    case Part::ShortDay:
      return name_index(text, kDays, piece.part == Part::LongDay).has_value();
    case Part::Month:
      return read_number(text, 1, 2, 1, 12, f.month);
    case Part::Month2:
      return read_number(text, 2, 2, 1, 12, f.month);
    case Part::DayBlank:
      skip_blanks(text, 1);
      return read_number(text, 1, 2, 1, 31, f.day);
    case Part::Day:
      return read_number(text, 1, 2, 1, 31, f.day);
    case Part::Day2:
      return read_number(text, 2, 2, 1, 31, f.day);
    case Part::YearDay:
      return read_number(text, 3, 3, 1, 366, out.year_day);
    case Part::YearDayBlank:
      skip_blanks(text, 2);
      return read_number(text, 1, 3, 1, 366, out.year_day);
    case Part::Hour24:
      return read_number(text, 1, 2, 0, 23, f.hour);
    case Part::Hour12:
      return read_number(text, 1, 2, 0, 12, f.hour);
    case Part::Hour12Two:
      return read_number(text, 2, 2, 0, 12, f.hour);
    case Part::Minute:
      return read_number(text, 1, 2, 0, 59, f.minute);
    case Part::Minute2:
      return read_number(text, 2, 2, 0, 59, f.minute);
    case Part::Second:
    case Part::Second2:
      if (!read_number(text, piece.part == Part::Second ? 1 : 2, 2, 0, 59, f.second)) return false;
      if (text.size() > 1 && text[0] == '.' && is_digit(text[1]))
        return read_fraction(text, 64, out);
      return true;
    case Part::Year: {
      const auto year = digits(text, 4, 4);
      if (year) f.year = *year;
      return year.has_value();
    }
    case Part::Year2: {
      const auto year = digits(text, 2, 2);
      if (year) f.year = *year + (*year >= 69 ? 1900 : 2000);
      return year.has_value();
    }
    case Part::UpperPm:
    case Part::LowerPm:
      return read_half_day(text, out, piece.part == Part::UpperPm);
    case Part::ZoneName:
      return read_zone_name(text, out);
    case Part::FractionZeros:
      return read_fraction(text, piece.text.size() - 1, out);
    case Part::FractionNines:
      return text.empty() || text[0] != '.' || read_fraction(text, 64, out);
    default:
      return read_zone(piece.part, text, out);
  }
}

int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  const std::chrono::year_month_day ymd(std::chrono::year(static_cast<int>(year)),
                                        std::chrono::month(static_cast<unsigned>(month)),
                                        std::chrono::day(1));
  return std::chrono::sys_days(ymd).time_since_epoch().count() + day - 1;
}

}  // namespace

std::string_view month_name(int month) { return kMonths[static_cast<size_t>(month - 1)]; }
std::string_view weekday_name(int weekday) { return kDays[static_cast<size_t>(weekday)]; }

LayoutFields split_time(const GoTime& t) {
  const int64_t local = t.seconds + t.offset_seconds;
  const int64_t day = local >= 0 ? local / 86400 : -((86399 - local) / 86400);
  const auto rest = static_cast<int>(local - day * 86400);
  const std::chrono::sys_days date{std::chrono::days(day)};
  const std::chrono::year_month_day ymd(date);
  LayoutFields f;
  f.year = static_cast<int>(ymd.year());
  f.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
  f.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
  f.hour = rest / 3600, f.minute = rest / 60 % 60, f.second = rest % 60;
  f.weekday = static_cast<int>(std::chrono::weekday(date).c_encoding());
  f.year_day = static_cast<int>(day - days_from_civil(f.year, 1, 1)) + 1;
  return f;
}

GoTime add_date(const GoTime& t, int64_t years, int64_t months, int64_t days) {
  const LayoutFields f = split_time(t);
  const int64_t month = f.month - 1 + months;
  const int64_t carry = month >= 0 ? month / 12 : -((11 - month) / 12);
  const int64_t day = days_from_civil(f.year + years + carry, month - carry * 12 + 1, f.day + days);
  GoTime out = t;
  out.seconds = day * 86400 + f.hour * 3600 + f.minute * 60 + f.second - t.offset_seconds;
  return out;
}

std::string format_layout(const GoTime& t, std::string_view layout) {
  const LayoutFields fields = split_time(t);
  std::string out;
  while (!layout.empty()) {
    const Piece piece = next_piece(layout);
    out += print_piece(piece, t, fields);
    layout.remove_prefix(piece.text.size());
  }
  return out;
}

Result<GoTime> parse_layout(std::string_view layout, std::string_view text) {
  const auto fail = [&, whole = text](std::string_view rest, std::string_view wanted) {
    return Status::invalid(fmt::format("parsing time {} as {}: cannot parse {} as {}", quote(whole),
                                       quote(layout), quote(rest), quote(wanted)));
  };
  Parsed parsed;
  std::string_view rest = text, pattern = layout;
  while (!pattern.empty()) {
    const Piece piece = next_piece(pattern);
    const std::string_view before = rest;
    if (!read_piece(piece, rest, parsed)) return fail(before, piece.text);
    pattern.remove_prefix(piece.text.size());
  }
  if (!rest.empty()) {
    return Status::invalid(
        fmt::format("parsing time {}: extra text: {}", quote(text), quote(rest)));
  }
  LayoutFields& f = parsed.fields;
  if (parsed.pm_set) f.hour = f.hour % 12 + (parsed.pm ? 12 : 0);
  int64_t day = days_from_civil(f.year, f.month, f.day);
  if (parsed.year_day > 0) day = days_from_civil(f.year, 1, parsed.year_day);
  GoTime out;
  out.offset_seconds = parsed.offset.value_or(0);
  out.seconds = day * 86400 + f.hour * 3600 + f.minute * 60 + f.second - out.offset_seconds;
  out.nanos = parsed.nanos;
  if (split_time(out).day != f.day && parsed.year_day == 0) {
    return Status::invalid(fmt::format("parsing time {}: day out of range", quote(text)));
  }
  if (!parsed.zone.empty()) {
    out.zone = parsed.zone;
  } else if (out.offset_seconds != 0) {
    out.zone.clear();
  }
  return out;
}

}  // namespace vagt::tmpl
