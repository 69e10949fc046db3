// Go's time.Time: nanoseconds and a zone, printed and parsed by layout ("2006-01-02 15:04:05").
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "template/template.h"

namespace vagt::tmpl {

struct GoTime {
  int64_t seconds = 0;         // since 1970, UTC
  int32_t nanos = 0;           // 0 … 999,999,999
  int32_t offset_seconds = 0;  // east of Greenwich
  std::string zone = "UTC";    // "" prints as +hhmm

  static GoTime from(Timestamp t);
  // Year 1: Go's zero time.
  static GoTime zero() { return {-62135596800, 0, 0, "UTC"}; }
  bool is_zero() const { return seconds == -62135596800 && nanos == 0; }
  // Milliseconds; the rest is cut.
  Timestamp to_timestamp() const;
  std::string format(std::string_view layout) const;
  // "2006-01-02 15:04:05.999999999 -0700 MST".
  std::string to_string() const;
  std::string to_rfc3339() const;
  GoTime add(std::chrono::nanoseconds d) const;
  GoTime utc() const;
};

// RFC 3339 with nanoseconds and its zone kept.
Result<GoTime> parse_rfc3339_time(std::string_view text);
// time.Parse for the layouts people write; InvalidArgument: `parsing time "x" as "y": cannot parse
// …`.
Result<GoTime> parse_go_time(std::string_view layout, std::string_view text);
// The same instant in a zone of the time-zone database. NotFound: "unknown time zone X".
Result<GoTime> in_zone(const GoTime& t, const std::string& zone);

// A value that behaves as time.Time does in templates (.Format, .Year, .Add, …).
TemplateValue make_time(GoTime t);
// The time in a Timestamp or a made time; nullopt for everything else.
std::optional<GoTime> time_of(const TemplateValue& value);

// Methods of time.Time and time.Duration. NotFound: there is none of that name.
Result<TemplateValue> call_time(const GoTime& t, std::string_view method,
                                std::span<const TemplateValue> args);
Result<TemplateValue> call_duration(std::chrono::nanoseconds d, std::string_view method,
                                    std::span<const TemplateValue> args);

}  // namespace vagt::tmpl
