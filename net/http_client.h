// HTTP(S) requests over libcurl: one multi handle, one thread, many transfers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "base/time.h"
#include "net/compression.h"
#include "net/url.h"

namespace vagt::net {

struct BasicAuth {
  std::string username;
  Secret password;
  std::string username_file, password_file;  // read at each request; win over the texts
  friend bool operator==(const BasicAuth&, const BasicAuth&) = default;
};
struct Authorization {
  std::string type = "Bearer";
  Secret credentials;
  std::string credentials_file;
  friend bool operator==(const Authorization&, const Authorization&) = default;
};
struct TlsOptions {
  std::string ca_file, cert_file, key_file, server_name;
  std::string ca, cert;  // PEM text instead of files
  Secret key;
  bool insecure_skip_verify = false;
  std::string min_version, max_version;  // "TLS12", "TLS13"; "" is the library's choice
  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};
struct OAuth2 {
  std::string client_id;
  Secret client_secret;
  std::string client_secret_file;
  std::vector<std::string> scopes;
  std::string token_url;
  std::vector<std::pair<std::string, std::string>> endpoint_params;
  TlsOptions tls;
  friend bool operator==(const OAuth2&, const OAuth2&) = default;
};
// The shared `http_config` of Prometheus and Alertmanager. YAML reading is config's.
struct HttpClientConfig {
  std::optional<BasicAuth> basic_auth;
  std::optional<Authorization> authorization;
  std::optional<OAuth2> oauth2;
  TlsOptions tls;
  std::string proxy_url, no_proxy;
  bool proxy_from_environment = false;
  std::vector<std::pair<std::string, Secret>> proxy_headers;
  std::vector<std::pair<std::string, Secret>> headers;  // http_headers
  // http_headers' `files`: header name and path, read at each request; white space at the ends is
  // not part of the value.
  std::vector<std::pair<std::string, std::string>> header_files;
  bool follow_redirects = true;  // credentials never follow to another host
  bool enable_http2 = true;
  std::string unix_socket;  // the connection goes there instead of to the URL's host
  friend bool operator==(const HttpClientConfig&, const HttpClientConfig&) = default;
};

struct HttpRequest {
  std::string method = "GET";
  Secret url;  // may hold credentials
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Duration timeout = std::chrono::seconds(10);  // whole transfer, redirects included
  uint64_t max_body_bytes = 64u << 20;          // as received, still compressed; 0: no limit
  bool accept_compression =
      false;  // asks for gzip and leaves the body as it came; see content_encoding
  // The body of a 200 answer, piece by piece as it arrives and without regard to max_body_bytes,
  // instead of in the response; first an empty piece once the header is there. On the client's
  // thread; false ends the transfer (Cancelled).
  std::function<bool(std::string_view)> on_body;
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // of the last answer, names as sent
  std::string body;
  Duration elapsed{0};
  std::string_view header(std::string_view name) const;  // case-insensitive; "" when absent
};

class HttpClient {
 public:
  struct Options {
    std::string user_agent = "vagt";
    size_t max_connections = 0;  // 0: no limit; idle ones are kept alive
    size_t max_connections_per_host = 0;
  };
  using Done = std::function<void(Result<HttpResponse>)>;  // runs on the client's thread: hand over
                                                           // and return

  explicit HttpClient(Options options);
  ~HttpClient();  // cancels what is under way (Done gets Cancelled), joins the thread

  // A set of defaults prepared once (files are still read per request); pass the same pointer for
  // each request to a target.
  using Profile = std::shared_ptr<const HttpClientConfig>;

  // Any thread. Errors: Timeout, Unavailable (connection refused, DNS, TLS; the text says which),
  // LimitExceeded (body), Cancelled.
  void send(HttpRequest request, Profile profile, Done done);
  // Waits; for tools and tests.
  Result<HttpResponse> fetch(HttpRequest request, Profile profile, std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::net
