#include "cli/context.h"

#include <charconv>
#include <cmath>
#include <ostream>

#include "base/number_text.h"
#include "template/go_time.h"

namespace vagt::cli {
namespace {

// Go's time.ParseDuration, whole milliseconds.
std::optional<Duration> parse_go_duration(std::string_view text) {
  double millis = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const size_t unit_at = text.find_first_not_of("0123456789.");
    if (unit_at == 0 || unit_at == std::string_view::npos) return std::nullopt;
    const auto number = parse_float(text.substr(0, unit_at));
    text.remove_prefix(unit_at);
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
    text.remove_prefix(unit.size());
    const double factor = unit == "ms"  ? 1
                          : unit == "s" ? 1e3
                          : unit == "m" ? 6e4
                          : unit == "h" ? 3.6e6
                                        : 0;
    if (!number || factor == 0) return std::nullopt;
    millis += *number * factor;
  }
  if (!(millis < 9e15)) return std::nullopt;
  return Duration(static_cast<int64_t>(std::llround(millis)));
}

}  // namespace

int Context::fail(const Status& status) { return fail(status.message()); }

int Context::fail(const std::string& message) {
  err << "vagtctl: error: " << message << "\n";
  return kFailure;
}

Result<Output> Context::output() const {
  if (options.output == "simple") return Output::Simple;
  if (options.output == "extended") return Output::Extended;
  if (options.output == "json") return Output::Json;
  return Status::invalid("enum value must be one of extended,json,simple, got '" + options.output +
                         "'");
}

Result<Duration> Context::timeout() const { return parse_any_duration(options.timeout); }

std::string Context::date(Timestamp t) const {
  return tmpl::GoTime::from(t).format(options.date_format);
}

Result<Duration> parse_any_duration(const std::string& text) {
  auto duration = parse_duration(text);
  if (duration) return duration;
  if (const auto go = parse_go_duration(text)) return *go;
  return Status::invalid("not a valid duration string: \"" + text + "\"");
}

Result<Timestamp> parse_instant(const std::string& text) {
  if (const auto seconds = parse_float(text); seconds && std::abs(*seconds) < 9e12) {
    return from_millis(static_cast<int64_t>(std::llround(*seconds * 1000)));
  }
  auto instant = parse_rfc3339(text);
  if (instant) return instant;
  return Status::invalid("cannot parse \"" + text +
                         "\" to a valid timestamp (RFC 3339 or seconds since 1970)");
}

}  // namespace vagt::cli
