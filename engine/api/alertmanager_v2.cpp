#include "engine/api/alertmanager_v2.h"

#include <fmt/core.h>

#include "base/json_writer.h"
#include "notify/api_json.h"

namespace vagt::engine::api {
namespace {

// The Alertmanager whose API and behaviour this is; clients choose their features by it.
constexpr std::string_view kAlertmanagerVersion = "0.34.0";

net::ServerResponse answer(int status, std::string json) {
  net::ServerResponse response = net::ServerResponse::json(status, std::move(json));
  if (response.body.empty()) response.content_type.clear();
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

net::ServerResponse refusal(const notify::ApiError& error) {
  return answer(error.status, notify::error_json(error));
}
net::ServerResponse bad_request(const Status& status) { return refusal({400, status.message()}); }

// As the generated server of the real one answers a body of another kind.
bool is_json(const net::ServerRequest& request) {
  const std::string_view type = request.header("Content-Type");
  return type.empty() || type.starts_with("application/json");
}
net::ServerResponse wrong_media_type(const net::ServerRequest& request) {
  std::string message = "unsupported media type \"";
  message += request.header("Content-Type");
  return answer(
      415, "{\"code\":415,\"message\":" + [&] {
        std::string text;
        base::append_json_string(text, message + "\", only [application/json] are allowed");
        return text;
      }() + "}");
}

// A thousand alerts are half a megabyte; nobody's batch comes near this, and what does would hold
// up everyone else's alerts.
constexpr size_t kMaxBodyBytes = 16u << 20;
net::ServerResponse too_large() {
  return refusal({413, fmt::format("request body is over {} bytes", kMaxBodyBytes)});
}

net::ServerResponse get_status(const AlertmanagerContext& context, const net::ServerRequest&,
                               const PathArgs&) {
  return answer(200, notify::status_json(context.notify.config_text(), context.notify.started_at(),
                                         std::string(kAlertmanagerVersion)));
}

net::ServerResponse get_receivers(const AlertmanagerContext& context,
                                  const net::ServerRequest& request, const PathArgs&) {
  const auto query = notify::parse_alert_query(request.params);
  if (!query.ok()) return bad_request(query.error());
  return answer(200, notify::receivers_json(context.notify.receivers(query->receiver_matchers)));
}

net::ServerResponse get_alerts(const AlertmanagerContext& context,
                               const net::ServerRequest& request, const PathArgs&) {
  const auto query = notify::parse_alert_query(request.params);
  if (!query.ok()) return bad_request(query.error());
  return answer(200, notify::alerts_json(context.notify.alerts(*query)));
}

net::ServerResponse get_groups(const AlertmanagerContext& context,
                               const net::ServerRequest& request, const PathArgs&) {
  const auto query = notify::parse_alert_query(request.params);
  if (!query.ok()) return bad_request(query.error());
  return answer(200, notify::groups_json(context.notify.groups(*query)));
}

net::ServerResponse post_alerts(const AlertmanagerContext& context,
                                const net::ServerRequest& request, const PathArgs&) {
  if (request.body.size() > kMaxBodyBytes) return too_large();
  if (!is_json(request)) return wrong_media_type(request);
  notify::ParsedAlerts parsed = notify::parse_posted_alerts(request.body);
  if (parsed.error) return refusal(*parsed.error);
  const Status status = context.notify.put_alerts(std::move(parsed.alerts));
  if (status.ok()) return answer(200, "");
  const bool clients_fault =
      status.code() == Code::InvalidArgument || status.code() == Code::LimitExceeded;
  return refusal({clients_fault ? 400 : 500, status.message()});
}

net::ServerResponse get_silences(const AlertmanagerContext& context,
                                 const net::ServerRequest& request, const PathArgs&) {
  const auto query = notify::parse_silence_query(request.params);
  if (!query.ok()) return bad_request(query.error());
  const Timestamp now = context.clock.now();
  std::vector<notify::Silence> silences = context.notify.silences();
  std::erase_if(silences, [&](const notify::Silence& silence) {
    return !notify::silence_selected(*query, silence, now);
  });
  return answer(200, notify::silences_json(silences, now));
}

net::ServerResponse post_silence(const AlertmanagerContext& context,
                                 const net::ServerRequest& request, const PathArgs&) {
  if (request.body.size() > kMaxBodyBytes) return too_large();
  if (!is_json(request)) return wrong_media_type(request);
  notify::ParsedSilence parsed = notify::parse_posted_silence(request.body);
  if (parsed.error) return refusal(*parsed.error);
  const auto id = context.notify.put_silence(std::move(parsed.silence));
  if (!id.ok()) {
    if (id.error().code() == Code::NotFound) return refusal({404, id.error().message()});
    const bool clients_fault =
        id.error().code() == Code::InvalidArgument || id.error().code() == Code::LimitExceeded;
    return refusal({clients_fault ? 400 : 500, id.error().message()});
  }
  std::string body;
  base::JsonWriter(body).begin_object().key("silenceID").string(*id).end_object();
  return answer(200, std::move(body));
}

// A silence id is a UUID; anything else is refused before it is looked up.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

net::ServerResponse not_a_uuid(const std::string& id) {
  return refusal({422, "silenceID in path must be of type uuid: \"" + id + "\""});
}

net::ServerResponse get_silence(const AlertmanagerContext& context, const net::ServerRequest&,
                                const PathArgs& args) {
  if (!is_uuid(args[0])) return not_a_uuid(args[0]);
  const auto silence = context.notify.silence(args[0]);
  if (!silence) return answer(404, "");
  return answer(200, notify::silence_json(*silence, context.clock.now()));
}

net::ServerResponse delete_silence(const AlertmanagerContext& context, const net::ServerRequest&,
                                   const PathArgs& args) {
  if (!is_uuid(args[0])) return not_a_uuid(args[0]);
  const Status status = context.notify.expire_silence(args[0]);
  if (status.ok()) return answer(200, "");
  if (status.code() == Code::NotFound) return answer(404, "");
  return refusal({500, status.message()});
}

}  // namespace

void add_alertmanager_routes(Router& router, const AlertmanagerContext& context) {
  using Function = net::ServerResponse (*)(const AlertmanagerContext&, const net::ServerRequest&,
                                           const PathArgs&);
  const auto add = [&](std::string_view method, std::string_view path, Function function,
                       Lane lane = Lane::Control) {
    router.add({method}, path, lane,
               [&context, function](const net::ServerRequest& request, const PathArgs& args) {
                 return function(context, request, args);
               });
  };
  add("GET", "/api/v2/status", get_status);
  add("GET", "/api/v2/receivers", get_receivers);
  add("GET", "/api/v2/alerts", get_alerts, Lane::Lists);
  add("POST", "/api/v2/alerts", post_alerts, Lane::Alerts);
  add("GET", "/api/v2/alerts/groups", get_groups, Lane::Lists);
  add("GET", "/api/v2/silences", get_silences);
  add("POST", "/api/v2/silences", post_silence);
  add("GET", "/api/v2/silence/{id}", get_silence);
  add("DELETE", "/api/v2/silence/{id}", delete_silence);
  // Version 1 ended with Alertmanager 0.27.
  router.add({"GET", "POST"}, "/api/v1/silences", Lane::Control,
             [](const net::ServerRequest&, const PathArgs&) {
               return answer(410,
                             "{\"status\":\"deprecated\",\"error\":\"The Alertmanager v1 API was "
                             "deprecated and removed, use /api/v2\"}");
             });
}

}  // namespace vagt::engine::api
