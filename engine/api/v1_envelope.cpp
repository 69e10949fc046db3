#include "engine/api/v1_envelope.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/number_text.h"
#include "query/parse.h"

namespace vagt::engine::api {
namespace {

struct ErrorFace {
  std::string_view type;
  int status;
};

ErrorFace face(V1Error type) {
  switch (type) {
    case V1Error::BadData:
      return {"bad_data", 400};
    case V1Error::Execution:
      return {"execution", 422};
    case V1Error::Canceled:
      return {"canceled", 499};
    case V1Error::Timeout:
      return {"timeout", 503};
    case V1Error::Internal:
      return {"internal", 500};
    case V1Error::Unavailable:
      return {"unavailable", 503};
    case V1Error::NotFound:
      return {"not_found", 404};
  }
  return {"internal", 500};
}

// At most ten of each kind, as upstream; `kind` names the rest.
void write_notes(base::JsonWriter& w, std::string_view key, std::string_view kind,
                 const std::vector<std::string>& notes) {
  constexpr size_t kMost = 10;
  if (notes.empty()) return;
  w.key(key).begin_array();
  for (size_t i = 0; i < notes.size() && i < kMost; ++i) w.string(notes[i]);
  if (notes.size() > kMost)
    w.string(fmt::format("{} more {} annotations omitted", notes.size() - kMost, kind));
  w.end_array();
}

}  // namespace

net::ServerResponse v1_success(const std::function<void(base::JsonWriter&)>& write,
                               const std::vector<std::string>& warnings,
                               const std::vector<std::string>& infos) {
  std::string body;
  base::JsonWriter w(body);
  w.begin_object().key("status").string("success").key("data");
  write(w);
  write_notes(w, "warnings", "warning", warnings);
  write_notes(w, "infos", "info", infos);
  w.end_object();
  return net::ServerResponse::json(200, std::move(body));
}

net::ServerResponse v1_error(V1Error type, std::string_view message) {
  const ErrorFace shown = face(type);
  std::string body;
  base::JsonWriter w(body);
  w.begin_object().key("status").string("error").key("errorType").string(shown.type);
  w.key("error").string(message).end_object();
  return net::ServerResponse::json(shown.status, std::move(body));
}

V1Error v1_error_of(const Status& status) {
  switch (status.code()) {
    case Code::Cancelled:
      return V1Error::Canceled;
    case Code::Timeout:
      return V1Error::Timeout;
    case Code::Unavailable:
      return V1Error::Unavailable;
    case Code::Corruption:
    case Code::Io:
    case Code::Internal:
      return V1Error::Internal;
    default:
      return V1Error::Execution;
  }
}

net::ServerResponse v1_bad_parameter(std::string_view name, std::string_view reason) {
  return v1_error(V1Error::BadData, fmt::format("invalid parameter \"{}\": {}", name, reason));
}

Result<Timestamp> parse_time_text(std::string_view text) {
  if (const auto seconds = parse_float(text)) {
    const double millis = std::round(*seconds * 1000);
    if (std::isfinite(millis) && std::fabs(millis) < 9e18)
      return from_millis(static_cast<int64_t>(millis));
    // Go turns NaN into its smallest instant; clients get an empty answer for it, not an error.
    if (!std::isfinite(*seconds)) return *seconds > 0 ? kMaxTime : kMinTime;
  } else if (const auto t = parse_rfc3339(text)) {
    return *t;
  } else if (text == "-292273086-05-16T16:47:06Z") {  // Go's smallest and largest instants, as
                                                      // clients send them
    return kMinTime;
  } else if (text == "+292277025-08-18T07:12:54.999999999Z") {
    return kMaxTime;
  }
  return Status::invalid(fmt::format("cannot parse {} to a valid timestamp", quote(text)));
}

Result<Duration> parse_duration_text(std::string_view text) {
  if (const auto seconds = parse_float(text)) {
    const double millis = *seconds * 1000;
    if (!(std::fabs(millis) < 9.2e15))
      return Status::invalid(
          fmt::format("cannot parse {} to a valid duration. It overflows int64", quote(text)));
    return Duration(static_cast<int64_t>(millis));
  }
  if (const auto d = parse_duration(text)) return *d;
  return Status::invalid(fmt::format("cannot parse {} to a valid duration", quote(text)));
}

Result<Timestamp> time_param(const net::ServerRequest& request, std::string_view name,
                             Timestamp fallback) {
  const auto text = request.param(name);
  if (!text || text->empty()) return fallback;
  auto parsed = parse_time_text(*text);
  if (!parsed.ok())
    return Status::invalid(
        fmt::format("invalid parameter \"{}\": {}", name, parsed.error().message()));
  return *parsed;
}

Result<size_t> limit_param(const net::ServerRequest& request) {
  const auto text = request.param("limit");
  if (!text || text->empty()) return size_t{0};
  const auto n = parse_int(*text);
  if (!n)
    return Status::invalid(
        fmt::format("invalid parameter \"limit\": cannot parse {} to a number", quote(*text)));
  if (*n < 0) return Status::invalid("invalid parameter \"limit\": limit must be non-negative");
  return static_cast<size_t>(*n);
}

Result<MatcherSets> match_params(const net::ServerRequest& request) {
  MatcherSets sets;
  for (const std::string_view text : request.param_all("match[]")) {
    auto matchers = query::parse_metric_selector(text);
    if (!matchers.ok())
      return Status::invalid(
          fmt::format("invalid parameter \"match[]\": {}", matchers.error().message()));
    bool selective = false;
    for (const Matcher& matcher : *matchers) selective |= !matcher.matches_empty();
    if (!selective)
      return Status::invalid(
          "invalid parameter \"match[]\": match[] must contain at least one non-empty matcher");
    sets.push_back(std::move(matchers).value());
  }
  return sets;
}

void append_json_value(std::string& out, double v) {
  const double magnitude = std::fabs(v);
  const bool exponent =
      magnitude != 0 && std::isfinite(v) && (magnitude < 1e-6 || magnitude >= 1e21);
  if (!exponent) return append_float(out, v);
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  out.append(buffer, error == std::errc() ? end : buffer);  // "1e-09", as Go's strconv has it
}

void append_json_time(std::string& out, Timestamp t) {
  int64_t millis = to_millis(t);
  if (millis < 0) {
    out += '-';
    millis = -millis;
  }
  out += std::to_string(millis / 1000);
  if (millis % 1000 != 0) {
    const std::string fraction = std::to_string(millis % 1000);
    out.append(".").append(3 - fraction.size(), '0').append(fraction);
  }
}

}  // namespace vagt::engine::api
