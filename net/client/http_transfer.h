// One HTTP request on its way: credentials, redirects, the answer. The loop's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "net/client/curl_loop.h"
#include "net/http_client.h"

namespace vagt::net {

struct SlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistDeleter>;

class HttpTransfer {
 public:
  using Finish = std::function<void(Result<HttpResponse>)>;  // may destroy the transfer

  HttpTransfer(CurlLoop& loop, std::string user_agent, HttpRequest request,
               HttpClient::Profile profile, Finish finish);
  ~HttpTransfer();  // aborts without a word
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  const HttpClientConfig& config() const { return *profile_; }
  bool wants_token() const;
  Duration time_left() const;
  // `token` is an Authorization header's value, "" for what the configuration itself holds.
  void begin(const std::string& token);
  void fail(Status status) { finish_(std::move(status)); }

 private:
  Status prepare(const std::string& token);
  void attempt();
  Status set_up();
  Status set_headers();
  Status set_tls();
  void set_method();
  void set_proxy();
  void reset_answer();
  void on_end(CURLcode code);
  bool should_redirect() const;
  Status redirect();

  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static size_t on_body(char* data, size_t size, size_t count, void* self);

  CurlLoop& loop_;
  const std::string user_agent_;
  HttpRequest request_;
  const HttpClient::Profile profile_;
  const Finish finish_;
  const std::chrono::steady_clock::time_point started_;

  UrlParts url_;
  std::string authorization_;  // of the current host; cleared when a redirect leaves it
  bool sends_config_headers_ = true;
  int redirects_ = 0;
  EasyHandle easy_;
  Slist headers_, proxy_headers_, connect_to_;
  std::string error_text_;  // CURL_ERROR_SIZE bytes, libcurl's
  bool is_too_large_ = false;
  bool is_unwanted_ = false;  // on_body said so
  HttpResponse response_;
};

}  // namespace vagt::net
