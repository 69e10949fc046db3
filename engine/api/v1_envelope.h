// The envelope every /api/v1 answer comes in, and the parameters they share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/matcher.h"
#include "base/status.h"
#include "base/time.h"
#include "net/http_server.h"

namespace vagt::engine::api {

// {"status":"success","data":…}; `write` writes the data.
net::ServerResponse v1_success(const std::function<void(base::JsonWriter&)>& write,
                               const std::vector<std::string>& warnings = {},
                               const std::vector<std::string>& infos = {});

enum class V1Error : uint8_t {
  BadData,
  Execution,
  Canceled,
  Timeout,
  Internal,
  Unavailable,
  NotFound
};
net::ServerResponse v1_error(V1Error type, std::string_view message);
// The kind of an evaluation or store error.
V1Error v1_error_of(const Status& status);

// `invalid parameter "NAME": REASON`, 400.
net::ServerResponse v1_bad_parameter(std::string_view name, std::string_view reason);

// Unix seconds with a fraction, or RFC 3339.
Result<Timestamp> parse_time_text(std::string_view text);
// Seconds with a fraction, or a Prometheus duration.
Result<Duration> parse_duration_text(std::string_view text);
// The parameter, or `fallback` when it is absent or empty. The error is worded for
// v1_bad_parameter.
Result<Timestamp> time_param(const net::ServerRequest& request, std::string_view name,
                             Timestamp fallback);
// `limit`: 0 or absent is no limit.
Result<size_t> limit_param(const net::ServerRequest& request);

using MatcherSets = std::vector<std::vector<Matcher>>;
// All match[] parameters; each must have a matcher that does not match the empty string.
Result<MatcherSets> match_params(const net::ServerRequest& request);

// A sample value as Prometheus spells it in JSON strings: shortest, exponent beyond 1e-6 and 1e21.
void append_json_value(std::string& out, double v);
// Seconds with up to three decimals.
void append_json_time(std::string& out, Timestamp t);

inline constexpr Timestamp kMinTime = from_millis(-9'007'199'254'740'991 / 1000 * 1000);
inline constexpr Timestamp kMaxTime = from_millis(9'007'199'254'740'991 / 1000 * 1000);

}  // namespace vagt::engine::api
