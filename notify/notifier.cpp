#include "notify/notifier.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/number_text.h"
#include "net/url.h"

namespace vagt::notify {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// Seconds only; a date there is rare and the backoff does instead.
std::optional<Duration> retry_after(const TransferReply& reply) {
  const auto seconds = parse_int(trimmed(reply.header("Retry-After")));
  if (!seconds || *seconds < 0 || *seconds > 86'400) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

std::string failure_reason(Code code) {
  if (code == Code::Timeout) return "contextDeadlineExceeded";
  if (code == Code::Cancelled) return "contextCanceled";
  return "other";
}

}  // namespace

std::string_view TransferReply::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (net::equals_ignoring_case(key, name)) return value;
  }
  return {};
}

SendOutcome judge_http(const TransferReply& reply, std::initializer_list<int> also_retry) {
  SendOutcome out;
  if (!reply.answered()) {
    out.result = SendResult::Retry;
    out.detail = reply.failure.message();
    out.reason = failure_reason(reply.failure.code());
    return out;
  }
  if (reply.status / 100 == 2) return out;
  const std::string body = truncate_bytes(trimmed(reply.body), 512);
  out.detail = "unexpected status code " + std::to_string(reply.status);
  if (!body.empty()) out.detail += ": " + body;
  const bool again = reply.status / 100 == 5 || std::find(also_retry.begin(), also_retry.end(),
                                                          reply.status) != also_retry.end();
  out.result = again ? SendResult::Retry : SendResult::Reject;
  out.retry_after = retry_after(reply);
  if (reply.status == 401 || reply.status == 403) {
    out.reason = "authError";
  } else if (reply.status == 429) {
    out.reason = "rateLimited";
  } else if (reply.status / 100 == 4) {
    out.reason = "clientError";
  } else if (reply.status / 100 == 5) {
    out.reason = "serverError";
  }
  return out;
}

TransferRequest json_post(Secret url, std::string body, net::HttpClient::Profile profile) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::move(url);
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  request.timeout = Duration(0);  // the delivery's deadline
  request.max_body_bytes = 1u << 20;
  return {std::move(request), std::move(profile)};
}

net::HttpClient::Profile make_profile(const net::HttpClientConfig& config) {
  return std::make_shared<const net::HttpClientConfig>(config);
}

Result<std::string> read_secret(const Secret& inline_value, const std::string& file) {
  if (file.empty()) return inline_value.reveal();
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Status(Code::Unavailable, "cannot read secret file").at(file);
  return std::string(trimmed(text.str()));
}

}  // namespace vagt::notify
