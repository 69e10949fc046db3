// OAuth 2 client-credentials tokens, fetched once and shared until they expire. The loop's thread
// only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/http_client.h"

namespace vagt::net {

class TokenSource {
 public:
  using Send = std::function<void(HttpRequest, HttpClient::Profile, HttpClient::Done)>;
  using Take = std::function<void(Result<std::string>)>;  // an Authorization header's value

  explicit TokenSource(Send send) : send_(std::move(send)) {}

  // At once when a token is at hand; else after one request to the token URL, which all callers
  // that come meanwhile share. That request is limited by the timeout of the caller that caused it.
  void get(const HttpClientConfig& config, Duration timeout, Take take);
  // The token was refused: the next get() fetches another.
  void forget(const OAuth2& oauth);

 private:
  struct Entry {
    std::string header;
    std::chrono::steady_clock::time_point expires;
    std::vector<Take> waiting;  // not empty: a request is under way
  };
  // Servers differ in whether they take the secret as basic auth or as form fields; try the former
  // first.
  enum class SecretIn : uint8_t { Header, Form };
  struct Job {
    std::string key;
    OAuth2 oauth;
    HttpClient::Profile profile;
    Duration timeout;
  };

  void fetch(Job job, SecretIn where);
  void receive(Job job, SecretIn where, Result<HttpResponse> response);
  void finish(const std::string& key, Result<std::string> header, Duration lifetime);

  const Send send_;
  std::map<std::string, Entry> entries_;
};

}  // namespace vagt::net
