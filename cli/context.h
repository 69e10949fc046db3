// What every verb is given: where to print, whom to ask, what time it is.
#pragma once

#include <iosfwd>
#include <string>

#include "base/status.h"
#include "base/time.h"
#include "net/http_client.h"

namespace vagt::cli {

// As promtool's; amtool knows only the first two.
enum ExitCode : int { kSuccess = 0, kFailure = 1, kLintFailure = 3 };

enum class Output : uint8_t { Simple, Extended, Json };

struct GlobalOptions {
  std::string url = "http://localhost:9090";  // vagtd's or Alertmanager's
  std::string output = "simple";
  std::string date_format = "2006-01-02 15:04:05 MST";  // Go's reference time
  std::string timeout = "30s";
  std::string http_config_file;
  std::string author;    // of silences; "" is the user's name
  std::string receiver;  // alert query's filter
  bool requires_comment = true;
  bool is_verbose = false;
  bool checks_version = true;  // accepted for amtool's sake; there is nothing to compare
};

struct Context {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  net::HttpClient& http;
  const Clock& clock;
  GlobalOptions options;

  // Prints "vagtctl: error: …" and gives the exit code for it.
  int fail(const Status& status);
  int fail(const std::string& message);
  Result<Output> output() const;
  Result<Duration> timeout() const;
  std::string date(Timestamp t) const;  // in --date.format, UTC
};

// "1h30m" as Prometheus writes it or "90.5s" as Go does. InvalidArgument: `not a valid duration
// string: "5x"`.
Result<Duration> parse_any_duration(const std::string& text);
// RFC 3339 or seconds since 1970 with a fraction, as promtool takes them.
Result<Timestamp> parse_instant(const std::string& text);

}  // namespace vagt::cli
