// The handlers' view of a request; no Beast here.
#include <algorithm>
#include <utility>

#include "net/server/answer.h"

namespace vagt::net {
namespace {

// Counted before they are built: millions of pairs would keep the I/O thread from everybody else.
size_t count_pairs(std::string_view text) {
  return text.empty() ? 0 : static_cast<size_t>(std::count(text.begin(), text.end(), '&')) + 1;
}

}  // namespace

std::string_view ServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return "";
}

std::optional<std::string_view> ServerRequest::param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> ServerRequest::param_all(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : params) {
    if (key == name) out.push_back(value);
  }
  return out;
}

ServerResponse ServerResponse::text(int status, std::string body) {
  ServerResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

ServerResponse ServerResponse::json(int status, std::string body) {
  ServerResponse response = text(status, std::move(body));
  response.content_type = "application/json";
  return response;
}

Status complete_request(ServerRequest& request, const ServerOptions& limits) {
  std::string_view target = request.target;
  if (const size_t scheme = target.find("://");
      scheme != std::string_view::npos && target[0] != '/') {
    const size_t path = target.find('/', scheme + 3);  // the form that proxies are sent
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const size_t question = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(std::min(question + 1, target.size()));
  auto path = url_decode(target.substr(0, question), false);
  if (!path) return Status::invalid("invalid percent escape in the request's path");
  request.path = std::move(*path);

  const bool is_form =
      request.header("Content-Type").starts_with("application/x-www-form-urlencoded") &&
      (request.method == "POST" || request.method == "PUT" || request.method == "PATCH");
  if (is_form && request.body.size() > limits.max_form_bytes)
    return {Code::LimitExceeded, "error parsing form values: the form is larger than " +
                                     std::to_string(limits.max_form_bytes) + " bytes"};
  if (count_pairs(query) + (is_form ? count_pairs(request.body) : 0) > limits.max_params)
    return Status::invalid("error parsing form values: more than " +
                           std::to_string(limits.max_params) + " parameters");
  if (is_form) request.params = parse_query_string(request.body);
  for (auto& pair : parse_query_string(query)) request.params.push_back(std::move(pair));
  std::string fault = query_string_fault(query);
  if (fault.empty() && is_form) fault = query_string_fault(request.body);
  if (!fault.empty()) return Status::invalid("error parsing form values: " + fault);
  return {};
}

}  // namespace vagt::net
