#include "cli/prometheus_api.h"

#include <boost/json.hpp>
#include <ostream>

#include "cli/http_profile.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

void warn(std::ostream& err, const json::object& object) {
  const auto* warnings = object.if_contains("warnings");
  if (warnings == nullptr || !warnings->is_array()) return;
  for (const auto& warning : warnings->as_array()) {
    if (warning.is_string()) err << "query warning: " << std::string(warning.as_string()) << "\n";
  }
}

}  // namespace

Result<PrometheusApi> PrometheusApi::connect(Context& context, const std::string& server) {
  VAGT_TRY(auto profile, load_http_profile(context.options.http_config_file));
  return PrometheusApi(context, server, std::move(profile));
}

Result<json::value> PrometheusApi::post(const std::string& path, const Params& params) {
  net::HttpRequest request = make_request("POST", path);
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  request.body = query_string(params);
  return call(std::move(request), "Post", path);
}

Result<json::value> PrometheusApi::get(const std::string& path, const Params& params) {
  return call(make_request("GET", path + "?" + query_string(params)), "Get", path);
}

net::HttpRequest PrometheusApi::make_request(const std::string& method,
                                             const std::string& target) const {
  net::HttpRequest request;
  request.method = method;
  request.url = Secret(base_url(server_) + target);
  request.headers = headers_;
  request.timeout = timeout_;
  request.max_body_bytes = 1u << 30;
  return request;
}

Result<json::value> PrometheusApi::call(net::HttpRequest request, const char* verb,
                                        const std::string& path) {
  auto answer = context_->http.fetch(std::move(request), profile_);
  if (!answer) {
    return std::move(answer).error().at(std::string(verb) + " \"" + shown_url(server_) + path +
                                        "\"");
  }
  boost::system::error_code error;
  json::value root = json::parse(answer->body, error);
  if (error || !root.is_object()) {
    return Status(Code::Unavailable,
                  "server_error: server error: " + std::to_string(answer->status));
  }
  json::object& object = root.as_object();
  warn(context_->err, object);
  const std::string outcome = text_of(object, "status");
  if (outcome == "success") return std::move(object["data"]);
  if (outcome != "error") {
    return Status(Code::Unavailable,
                  "server_error: the answer of " + shown_url(server_) + path + " has no status");
  }
  return Status(Code::Unavailable, text_of(object, "errorType") + ": " + text_of(object, "error"));
}

}  // namespace vagt::cli
