#include "net/client/token_source.h"

#include <boost/json.hpp>
#include <utility>

#include "net/client/credentials.h"

namespace vagt::net {
namespace {

using std::chrono::steady_clock;

constexpr Duration kRenewBefore = std::chrono::seconds(10);
constexpr Duration kUnstatedLifetime = std::chrono::hours(1);
constexpr uint64_t kMaxAnswerBytes = 1u << 20;

std::string key_of(const OAuth2& oauth) {
  std::string key = oauth.token_url + '\n' + oauth.client_id + '\n' + oauth.client_secret.reveal() +
                    '\n' + oauth.client_secret_file;
  for (const auto& scope : oauth.scopes) key += '\n' + scope;
  for (const auto& [name, value] : oauth.endpoint_params) key += '\n' + name + '=' + value;
  return key;
}

std::string joined(const std::vector<std::string>& scopes) {
  std::string out;
  for (const auto& scope : scopes) out += (out.empty() ? "" : " ") + scope;
  return out;
}

struct Token {
  std::string header;
  Duration lifetime;
};

// RFC 6749 section 5.1. The answer holds a secret and is never quoted.
Result<Token> parse_token(const std::string& body) {
  boost::system::error_code error;
  const auto value = boost::json::parse(body, error);
  if (error || !value.is_object()) {
    return Status(Code::Unavailable, "oauth2: the token URL's answer is not a JSON object");
  }
  const auto& object = value.as_object();
  const auto* access = object.if_contains("access_token");
  if (access == nullptr || !access->is_string() || access->as_string().empty()) {
    return Status(Code::Unavailable, "oauth2: server response missing access_token");
  }
  std::string type = "Bearer";
  if (const auto* named = object.if_contains("token_type");
      named != nullptr && named->is_string()) {
    if (!equals_ignoring_case(named->as_string(), "bearer")) type = std::string(named->as_string());
  }
  Duration lifetime = kUnstatedLifetime;
  if (const auto* seconds = object.if_contains("expires_in"); seconds != nullptr) {
    boost::system::error_code not_number;
    const auto count = seconds->to_number<int64_t>(not_number);
    if (!not_number && count > 0 && count < 1'000'000'000) lifetime = std::chrono::seconds(count);
  }
  return Token{type + " " + std::string(access->as_string()), lifetime};
}

}  // namespace

void TokenSource::get(const HttpClientConfig& config, Duration timeout, Take take) {
  const OAuth2& oauth = *config.oauth2;
  const std::string key = key_of(oauth);
  Entry& entry = entries_[key];
  if (!entry.header.empty() && steady_clock::now() < entry.expires) {
    take(entry.header);
    return;
  }
  entry.waiting.push_back(std::move(take));
  if (entry.waiting.size() > 1) return;

  auto profile = std::make_shared<HttpClientConfig>();
  profile->tls = oauth.tls;
  profile->proxy_url = config.proxy_url;
  profile->no_proxy = config.no_proxy;
  profile->proxy_from_environment = config.proxy_from_environment;
  profile->proxy_headers = config.proxy_headers;
  fetch({key, oauth, std::move(profile), timeout}, SecretIn::Header);
}

void TokenSource::forget(const OAuth2& oauth) {
  const auto found = entries_.find(key_of(oauth));
  if (found != entries_.end()) found->second.header.clear();
}

void TokenSource::fetch(Job job, SecretIn where) {
  std::string secret = job.oauth.client_secret.reveal();
  if (!job.oauth.client_secret_file.empty()) {
    auto text = read_secret_file(job.oauth.client_secret_file);
    if (!text) {
      finish(job.key, std::move(text).error().at("unable to read oauth2 client secret"), {});
      return;
    }
    secret = std::move(*text);
  }
  HttpRequest request;
  request.method = "POST";
  request.url = Secret(job.oauth.token_url);
  request.timeout = job.timeout;
  request.max_body_bytes = kMaxAnswerBytes;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                     {"Accept", "application/json"}};
  request.body = "grant_type=client_credentials";
  const std::string scope = joined(job.oauth.scopes);
  if (!scope.empty()) request.body += "&scope=" + url_encode(scope);
  for (const auto& [name, value] : job.oauth.endpoint_params) {
    request.body += "&" + url_encode(name) + "=" + url_encode(value);
  }
  if (where == SecretIn::Header) {
    // RFC 6749 section 2.3.1: both halves are form-encoded before base64.
    request.headers.emplace_back("Authorization",
                                 basic_header(url_encode(job.oauth.client_id), url_encode(secret)));
  } else {
    request.body +=
        "&client_id=" + url_encode(job.oauth.client_id) + "&client_secret=" + url_encode(secret);
  }
  auto profile = job.profile;
  send_(std::move(request), std::move(profile),
        [this, job = std::move(job), where](Result<HttpResponse> response) mutable {
          receive(std::move(job), where, std::move(response));
        });
}

void TokenSource::receive(Job job, SecretIn where, Result<HttpResponse> response) {
  if (!response) {
    finish(job.key, std::move(response).error().at("oauth2: cannot fetch token"), {});
    return;
  }
  if (response->status / 100 != 2) {
    const bool may_want_form = response->status == 400 || response->status == 401;
    if (where == SecretIn::Header && may_want_form) {
      fetch(std::move(job), SecretIn::Form);
      return;
    }
    finish(job.key,
           Status(Code::Unavailable,
                  "oauth2: cannot fetch token: HTTP status " + std::to_string(response->status)),
           {});
    return;
  }
  auto token = parse_token(response->body);
  if (!token) {
    finish(job.key, std::move(token).error(), {});
    return;
  }
  finish(job.key, std::move(token->header), token->lifetime);
}

void TokenSource::finish(const std::string& key, Result<std::string> header, Duration lifetime) {
  const auto now = steady_clock::now();
  Entry& entry = entries_[key];
  const std::vector<Take> waiting = std::exchange(entry.waiting, {});
  if (header) {
    entry.header = *header;
    entry.expires = now + lifetime - std::min(kRenewBefore, lifetime / 2);
  }
  // Configurations come and go; what has expired and is not being fetched is of no use.
  std::erase_if(entries_, [&](const auto& item) {
    const Entry& other = item.second;
    return other.waiting.empty() && (other.header.empty() || other.expires <= now);
  });
  for (const Take& take : waiting) take(header);
}

}  // namespace vagt::net
