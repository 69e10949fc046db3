#include "cli/alertmanager_api.h"

#include <boost/json.hpp>

#include "base/json_writer.h"
#include "cli/http_profile.h"
#include "cli/json_text.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

const json::object& object_of(const json::object& object, std::string_view key) {
  static const json::object empty;
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->as_object() : empty;
}

Timestamp time_of(const json::object& object, std::string_view key) {
  const auto t = parse_rfc3339(text_of(object, key));
  return t ? *t : Timestamp{};
}

TextMap map_of(const json::object& object, std::string_view key) {
  TextMap out;
  for (const auto& item : object_of(object, key)) {
    if (item.value().is_string()) out[item.key()] = std::string(item.value().as_string());
  }
  return out;
}

Result<json::value> parse(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return Status(Code::Unavailable, "the server's answer is not JSON");
  return value;
}

Result<json::array> parse_array(const std::string& text) {
  VAGT_TRY(json::value value, parse(text));
  if (!value.is_array())
    return Status(Code::Unavailable, "the server's answer is not a JSON array");
  return std::move(value.as_array());
}

// What has no labels or no time of start is no alert: printed, it would look like one.
Result<AlertView> alert_of(const json::value& item) {
  const auto* fields = item.if_object();
  const auto* labels = fields != nullptr ? fields->if_contains("labels") : nullptr;
  if (labels == nullptr || !labels->is_object() ||
      !parse_rfc3339(text_of(*fields, "startsAt")).ok()) {
    return Status(Code::Unavailable, "not an alert in the server's answer: " + json_text(item));
  }
  const json::object& object = *fields;
  AlertView alert;
  alert.labels = map_of(object, "labels");
  alert.annotations = map_of(object, "annotations");
  alert.starts_at = time_of(object, "startsAt");
  alert.ends_at = time_of(object, "endsAt");
  alert.generator_url = text_of(object, "generatorURL");
  alert.state = text_of(object_of(object, "status"), "state");
  return alert;
}

SilenceMatcher matcher_of(const json::object& object) {
  SilenceMatcher matcher{text_of(object, "name"), text_of(object, "value")};
  const auto* regex = object.if_contains("isRegex");
  matcher.is_regex = regex != nullptr && regex->is_bool() && regex->as_bool();
  const auto* equal = object.if_contains("isEqual");  // absent in files of before 0.22
  matcher.is_equal = equal == nullptr || !equal->is_bool() || equal->as_bool();
  return matcher;
}

Result<SilenceView> silence_of(const json::value& item) {
  const auto* fields = item.if_object();
  if (fields == nullptr) return Status::invalid("a silence is not a JSON object");
  const json::object& object = *fields;
  SilenceView silence;
  silence.id = text_of(object, "id");
  const auto* matchers = object.if_contains("matchers");
  if (matchers == nullptr || !matchers->is_array())
    return Status::invalid("a silence without matchers: " + json_text(item));
  for (const auto& matcher : matchers->as_array()) {
    if (!matcher.is_object()) return Status::invalid("a matcher is not a JSON object");
    silence.matchers.push_back(matcher_of(matcher.as_object()));
  }
  silence.starts_at = time_of(object, "startsAt");
  silence.ends_at = time_of(object, "endsAt");
  silence.updated_at = time_of(object, "updatedAt");
  silence.created_by = text_of(object, "createdBy");
  silence.comment = text_of(object, "comment");
  silence.state = text_of(object_of(object, "status"), "state");
  silence.json = json_text(object);
  return silence;
}

void write_map(base::JsonWriter& writer, std::string_view key, const TextMap& map) {
  writer.key(key).begin_object();
  for (const auto& [name, value] : map) writer.key(name).string(value);
  writer.end_object();
}

// The API describes an error's body as a JSON string; proxies in between do not keep to that.
std::string error_text(const std::string& body) {
  boost::system::error_code error;
  const json::value value = json::parse(body, error);
  if (!error && value.is_string()) return std::string(value.as_string());
  std::string text = body.substr(0, 500);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string status_name(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 404:
      return "NotFound";
    case 500:
      return "InternalServerError";
    default:
      return "Default";
  }
}

}  // namespace

std::string query_string(const Params& params) {
  std::string out;
  for (const auto& [name, value] : params) {
    out += (out.empty() ? "" : "&") + net::url_encode(name) + "=" + net::url_encode(value);
  }
  return out;
}

Result<std::vector<SilenceView>> parse_silences(const std::string& text) {
  VAGT_TRY(const json::array array, parse_array(text));
  std::vector<SilenceView> out;
  for (const auto& item : array) {
    VAGT_TRY(SilenceView silence, silence_of(item));
    out.push_back(std::move(silence));
  }
  return out;
}

Result<AlertmanagerApi> AlertmanagerApi::connect(Context& context) {
  VAGT_TRY(auto profile, load_http_profile(context.options.http_config_file));
  VAGT_TRY(const Duration timeout, context.timeout());
  return AlertmanagerApi(context, std::move(profile), timeout);
}

Result<std::string> AlertmanagerApi::call(const std::string& method, const std::string& path,
                                          const std::string& shown_path,
                                          const std::string& operation, std::string body) {
  const std::string& server = context_->options.url;
  net::HttpRequest request;
  request.method = method;
  request.url = Secret(base_url(server) + "/api/v2" + path);
  request.timeout = timeout_;
  request.headers = {{"Accept", "application/json"}};
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  auto answer = context_->http.fetch(std::move(request), profile_);
  if (!answer) {
    const std::string name = method.substr(0, 1) + (method == "GET"    ? "et"
                                                    : method == "POST" ? "ost"
                                                                       : "elete");
    return std::move(answer).error().at(name + " \"" + shown_url(server) + "/api/v2" + path + "\"");
  }
  if (answer->status / 100 == 2) return std::move(answer->body);
  const Code code = answer->status == 404 ? Code::NotFound : Code::Unavailable;
  return Status(code, "[" + method + " " + shown_path + "][" + std::to_string(answer->status) +
                          "] " + operation + status_name(answer->status) + "  " +
                          error_text(answer->body));
}

Result<std::vector<AlertView>> AlertmanagerApi::alerts(const Params& params, std::string* text) {
  VAGT_TRY(const std::string body,
           call("GET", "/alerts?" + query_string(params), "/alerts", "getAlerts"));
  VAGT_TRY(const json::array array, parse_array(body));
  std::vector<AlertView> out;
  for (const auto& item : array) {
    VAGT_TRY(AlertView alert, alert_of(item));
    out.push_back(std::move(alert));
  }
  if (text != nullptr) *text = json_text(array);
  return out;
}

Status AlertmanagerApi::post_alert(const AlertPost& alert) {
  std::string body;
  base::JsonWriter writer(body);
  writer.begin_array().begin_object();
  write_map(writer, "labels", alert.labels);
  write_map(writer, "annotations", alert.annotations);
  if (alert.starts_at) writer.key("startsAt").string(format_rfc3339(*alert.starts_at));
  if (alert.ends_at) writer.key("endsAt").string(format_rfc3339(*alert.ends_at));
  writer.key("generatorURL").string(alert.generator_url).end_object().end_array();
  return call("POST", "/alerts", "/alerts", "postAlerts", std::move(body)).status();
}

Result<std::vector<SilenceView>> AlertmanagerApi::silences(const Params& params) {
  VAGT_TRY(const std::string body,
           call("GET", "/silences?" + query_string(params), "/silences", "getSilences"));
  return parse_silences(body);
}

Result<SilenceView> AlertmanagerApi::silence(const std::string& id) {
  VAGT_TRY(const std::string body,
           call("GET", "/silence/" + net::url_encode(id), "/silence/{silenceID}", "getSilence"));
  VAGT_TRY(const json::value value, parse(body));
  return silence_of(value);
}

Result<std::string> AlertmanagerApi::post_silence(const SilenceView& silence) {
  std::string body;
  base::JsonWriter writer(body);
  writer.begin_object();
  if (!silence.id.empty()) writer.key("id").string(silence.id);
  writer.key("matchers").begin_array();
  for (const SilenceMatcher& matcher : silence.matchers) {
    writer.begin_object().key("name").string(matcher.name).key("value").string(matcher.value);
    writer.key("isRegex").boolean(matcher.is_regex).key("isEqual").boolean(matcher.is_equal);
    writer.end_object();
  }
  writer.end_array();
  writer.key("startsAt").string(format_rfc3339(silence.starts_at));
  writer.key("endsAt").string(format_rfc3339(silence.ends_at));
  writer.key("createdBy").string(silence.created_by).key("comment").string(silence.comment);
  writer.end_object();
  VAGT_TRY(const std::string answer,
           call("POST", "/silences", "/silences", "postSilences", std::move(body)));
  VAGT_TRY(const json::value value, parse(answer));
  std::string id = value.is_object() ? text_of(value.as_object(), "silenceID") : "";
  if (id.empty()) return Status(Code::Unavailable, "the server's answer holds no silenceID");
  return id;
}

Status AlertmanagerApi::expire_silence(const std::string& id) {
  return call("DELETE", "/silence/" + net::url_encode(id), "/silence/{silenceID}", "deleteSilence")
      .status();
}

Result<StatusView> AlertmanagerApi::status() {
  VAGT_TRY(const std::string body, call("GET", "/status", "/status", "getStatus"));
  VAGT_TRY(const json::value value, parse(body));
  if (!value.is_object()) return Status(Code::Unavailable, "the status is not a JSON object");
  const json::object& root = value.as_object();
  const json::object& cluster = object_of(root, "cluster");
  StatusView view;
  view.config_json = json_text(value);
  view.cluster_json = json_text(cluster);
  view.config_text = text_of(object_of(root, "config"), "original");
  view.uptime = text_of(root, "uptime");
  view.cluster_status = text_of(cluster, "status");
  view.cluster_name = text_of(cluster, "name");
  for (const char* key : {"buildUser", "goVersion", "revision", "version", "branch", "buildDate"}) {
    view.versions.emplace_back(key, text_of(object_of(root, "versionInfo"), key));
  }
  if (const auto* peers = cluster.if_contains("peers"); peers != nullptr && peers->is_array()) {
    for (const auto& peer : peers->as_array()) {
      if (!peer.is_object()) continue;
      view.peers.emplace_back(text_of(peer.as_object(), "name"),
                              text_of(peer.as_object(), "address"));
    }
  }
  return view;
}

}  // namespace vagt::cli
