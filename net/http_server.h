// An HTTP/1.1 server on Boost.Beast. Handlers know nothing of Beast.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "base/time.h"
#include "net/url.h"

namespace vagt::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct ServerRequest {
  std::string method;  // upper case
  std::string target;  // as sent, with query
  std::string path;    // percent-decoded, without query
  // A form body's fields, then the query string's (as Go's Request.Form), decoded, in order.
  std::vector<std::pair<std::string, std::string>> params;
  Headers headers;
  std::string body;        // as sent; content-encoding is the handler's
  std::string remote;      // "127.0.0.1:40112"
  std::stop_token closed;  // requested when the client hangs up or the server stops

  std::string_view header(std::string_view name) const;  // case-insensitive; "" when absent
  std::optional<std::string_view> param(std::string_view name) const;  // the first one
  std::vector<std::string_view> param_all(std::string_view name) const;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  Headers headers;
  std::string
      body;  // gzip is applied by the server when the client accepts it and the body is worth it
  static ServerResponse text(int status, std::string body);
  static ServerResponse json(int status, std::string body);
};

// Answers exactly once, from any thread.
using Respond = std::function<void(ServerResponse)>;
// Runs on the I/O thread: must not block; long work goes to a pool and calls Respond from there.
using Handler = std::function<void(std::shared_ptr<const ServerRequest>, Respond)>;

// TLS, passwords and headers of --web.config.file; see web_config.h.
class WebSecurity;

struct ServerOptions {
  std::vector<std::string> listen;  // "127.0.0.1:9090", ":9090", "[::1]:9090"; port 0: any free one
  size_t threads = 1;
  size_t max_header_bytes = 1u << 20;  // request line included: GET queries are long
  uint64_t max_body_bytes = 64u << 20;
  // Of all requests under way together, the first 256 KiB of each not counted; a request that would
  // take more is answered 503. 0: no limit.
  uint64_t max_bodies_bytes = 1u << 30;
  uint64_t max_form_bytes = 10u << 20;  // of a body that is parsed as a form
  size_t max_params = 10'000;           // of a form and the query string together
  size_t max_connections = 512;
  Duration read_timeout = std::chrono::minutes(5);  // of a request under way, and idle keep-alive
  // A newcomer's first header: clients that only connect must not keep others out for long.
  Duration first_header_timeout = std::chrono::seconds(10);
  std::string cors_origin = ".*";                   // regex, anchored
  std::shared_ptr<WebSecurity> security = nullptr;  // null: plain HTTP for everyone
};

class HttpServer {
 public:
  // Binds and begins to serve. Unavailable: a listen address cannot be bound; the message names it.
  static Result<std::unique_ptr<HttpServer>> start(ServerOptions options, Handler handler,
                                                   base::Logger log);
  ~HttpServer();  // stop()
  // Accepts no more, waits up to `grace` for answers under way, closes.
  void stop(Duration grace = std::chrono::seconds(2));
  std::vector<uint16_t> ports() const;  // bound, in the order of options.listen

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::net
