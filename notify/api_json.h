// The bodies of Alertmanager's API v2: pure text in, structs out, and the reverse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "notify/silence.h"
#include "notify/views.h"

namespace vagt::notify {

// A complaint with the HTTP status that the real one answers: 400, 422.
struct ApiError {
  int status = 400;
  std::string message;
  int code = 0;  // of the request validation's own answers; 0: the message stands alone
};

struct ParsedAlerts {
  std::vector<PostedAlert> alerts;
  std::optional<ApiError> error;  // set: the whole body is refused
};
ParsedAlerts parse_posted_alerts(std::string_view body);

struct ParsedSilence {
  Silence silence;  // id "" for a new one
  std::optional<ApiError> error;
};
ParsedSilence parse_posted_silence(std::string_view body);

// The query parameters of /alerts and /alerts/groups.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
Result<AlertQuery> parse_alert_query(const QueryParameters& parameters);

struct SilenceQuery {
  bool active = true, pending = true, expired = true;
  std::vector<Matcher> filters;
};
Result<SilenceQuery> parse_silence_query(const QueryParameters& parameters);
bool silence_selected(const SilenceQuery& query, const Silence& silence, Timestamp now);

// JSON answers.
std::string alerts_json(const std::vector<AlertView>& alerts);
std::string groups_json(const std::vector<GroupView>& groups);
std::string silences_json(const std::vector<Silence>& silences, Timestamp now);
std::string silence_json(const Silence& silence, Timestamp now);
std::string receivers_json(const std::vector<ReceiverView>& receivers);
std::string status_json(const std::string& config_text, Timestamp started_at,
                        const std::string& version);
// The body of an error answer: {"code":602,"message":"…"} with a code, a JSON string without.
std::string error_json(const ApiError& error);

}  // namespace vagt::notify
