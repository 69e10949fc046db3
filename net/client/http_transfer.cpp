#include "net/client/http_transfer.h"

#include <algorithm>
#include <utility>

#include "net/client/credentials.h"
#include "net/client/curl_error.h"
#include "net/client/easy_options.h"
#include "net/proxy.h"

namespace vagt::net {
namespace {

using std::chrono::steady_clock;

constexpr int kMaxRedirects = 10;

std::string port_of(const UrlParts& url) {
  if (!url.port.empty()) return url.port;
  return url.scheme == "https" ? "443" : "80";
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string authority(const UrlParts& url) {
  return bracketed(url.host) + (url.port.empty() ? "" : ":" + url.port);
}

std::string request_url(const UrlParts& url, const std::string& host) {
  std::string text = url.scheme + "://" + bracketed(host) + ":" + port_of(url);
  text += url.path.empty() ? "/" : url.path;
  if (!url.query.empty()) text += "?" + url.query;
  return text;
}

// Credentials stay with the scheme, host and port they were meant for; the usual step from http to
// https is taken too.
bool keeps_credentials(const UrlParts& from, const UrlParts& to) {
  if (!equals_ignoring_case(from.host, to.host)) return false;
  if (from.scheme == to.scheme) return port_of(from) == port_of(to);
  return from.scheme == "http" && port_of(from) == "80" && port_of(to) == "443";
}

bool is_credential_header(std::string_view name) {
  return equals_ignoring_case(name, "Authorization") || equals_ignoring_case(name, "Cookie") ||
         equals_ignoring_case(name, "Proxy-Authorization") ||
         equals_ignoring_case(name, "WWW-Authenticate");
}

bool has_header(const HttpRequest& request, std::string_view name) {
  return std::any_of(request.headers.begin(), request.headers.end(), [name](const auto& header) {
    return equals_ignoring_case(header.first, name);
  });
}

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

Status append(Slist& list, const std::string& name, const std::string& value) {
  if (!is_one_line(name) || !is_one_line(value) || name.empty()) {
    return Status::invalid("header \"" + name + "\" holds a line break or has no name");
  }
  // libcurl sends an empty header only when it is spelt with a semicolon.
  const std::string line = value.empty() ? name + ";" : name + ": " + value;
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return {Code::Internal, "out of memory"};
  (void)list.release();
  list.reset(longer);
  return {};
}

void suppress(Slist& list, const char* name) {
  curl_slist* const longer = curl_slist_append(list.get(), (std::string(name) + ":").c_str());
  if (longer == nullptr) return;
  (void)list.release();
  list.reset(longer);
}

// Absolute form of a Location header.
Result<std::string> resolve(const std::string& base, const std::string& location) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), curl_url_cleanup);
  if (!url || curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, location.c_str(), CURLU_URLENCODE) != CURLUE_OK) {
    return Status(Code::Unavailable, "the redirect's Location header is not a URL");
  }
  char* text = nullptr;
  if (curl_url_get(url.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) {
    return Status(Code::Unavailable, "the redirect's Location header is not a URL");
  }
  std::string out = text;
  curl_free(text);
  return out;
}

}  // namespace

HttpTransfer::HttpTransfer(CurlLoop& loop, std::string user_agent, HttpRequest request,
                           HttpClient::Profile profile, Finish finish)
    : loop_(loop),
      user_agent_(std::move(user_agent)),
      request_(std::move(request)),
      profile_(std::move(profile)),
      finish_(std::move(finish)),
      started_(steady_clock::now()),
      error_text_(CURL_ERROR_SIZE, '\0') {}

HttpTransfer::~HttpTransfer() {
  if (!easy_) return;
  loop_.abort(easy_.get());
  loop_.give_back(std::move(easy_));
}

bool HttpTransfer::wants_token() const {
  return profile_->oauth2 && !has_header(request_, "Authorization");
}

Duration HttpTransfer::time_left() const {
  return request_.timeout - std::chrono::duration_cast<Duration>(steady_clock::now() - started_);
}

void HttpTransfer::begin(const std::string& token) {
  if (Status status = prepare(token); !status.ok()) {
    fail(std::move(status));
    return;
  }
  attempt();
}

Status HttpTransfer::prepare(const std::string& token) {
  VAGT_TRY(url_, parse_url(request_.url.reveal()));
  if (url_.scheme != "http" && url_.scheme != "https") {
    return Status::invalid("unsupported protocol scheme \"" + url_.scheme + "\"");
  }
  if (has_header(request_, "Authorization")) return {};
  authorization_ = token;
  if (authorization_.empty()) {
    VAGT_TRY(authorization_, authorization_header(*profile_));
  }
  if (authorization_.empty() && !url_.user.empty()) {
    authorization_ = basic_header(url_.user, url_.password);
  }
  return {};
}

void HttpTransfer::attempt() {
  if (time_left() <= Duration(0)) {
    fail({Code::Timeout, "context deadline exceeded"});
    return;
  }
  reset_answer();
  if (!easy_) easy_ = loop_.take_handle();
  Status status = easy_ ? set_up() : Status(Code::Internal, "out of memory");
  if (!status.ok()) {
    fail(std::move(status));
    return;
  }
  loop_.start(easy_.get(), [this](CURLcode code) { on_end(code); });
}

void HttpTransfer::reset_answer() {
  response_.status = 0;
  response_.headers.clear();
  response_.body.clear();
  error_text_[0] = '\0';
}

Status HttpTransfer::set_up() {
  CURL* const easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_URL, request_url(url_, url_.host).c_str());
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(time_left().count()));
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   profile_->enable_http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent_.c_str());
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &HttpTransfer::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  headers_.reset();
  if (url_.scheme == "https") VAGT_CHECK_OK(set_tls());
  if (!profile_->unix_socket.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, profile_->unix_socket.c_str());
  }
  set_method();
  set_proxy();
  return set_headers();
}

Status HttpTransfer::set_tls() {
  VAGT_TRY(const TlsOptions tls, load_tls(profile_->tls));
  VAGT_CHECK_OK(apply_tls(easy_.get(), tls));
  connect_to_.reset();
  if (!tls.server_name.empty()) {
    // libcurl takes the name to verify from the URL: put it there, connect to the real host, and
    // name that in Host.
    const std::string route = bracketed(tls.server_name) + ":" + port_of(url_) + ":" +
                              bracketed(url_.host) + ":" + port_of(url_);
    connect_to_.reset(curl_slist_append(nullptr, route.c_str()));
    curl_easy_setopt(easy_.get(), CURLOPT_URL, request_url(url_, tls.server_name).c_str());
    if (!has_header(request_, "Host")) VAGT_CHECK_OK(append(headers_, "Host", authority(url_)));
  }
  curl_easy_setopt(easy_.get(), CURLOPT_CONNECT_TO, connect_to_.get());
  return {};
}

void HttpTransfer::set_method() {
  CURL* const easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, nullptr);
  if (request_.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  curl_easy_setopt(easy, CURLOPT_NOBODY, 0L);
  const bool has_body =
      !request_.body.empty() || request_.method == "POST" || request_.method == "PUT";
  if (has_body) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
  } else {
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  }
  if (request_.method != (has_body ? "POST" : "GET")) {
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
}

void HttpTransfer::set_proxy() {
  CURL* const easy = easy_.get();
  // Set in every case, "" included, or libcurl reads the environment by itself.
  const std::string proxy = choose_proxy(*profile_, url_);
  curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  proxy_headers_.reset();
  for (const auto& [name, value] : profile_->proxy_headers) {
    append(proxy_headers_, name, value.reveal()).ignore("validated with the configuration");
  }
  curl_easy_setopt(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  curl_easy_setopt(easy, CURLOPT_PROXYHEADER, proxy_headers_.get());
}

Status HttpTransfer::set_headers() {
  for (const auto& [name, value] : request_.headers) VAGT_CHECK_OK(append(headers_, name, value));
  if (sends_config_headers_) {
    for (const auto& [name, value] : profile_->headers) {
      VAGT_CHECK_OK(append(headers_, name, value.reveal()));
    }
    for (const auto& [name, path] : profile_->header_files) {
      VAGT_TRY(const std::string value, read_secret_file(path).at("unable to read header " + name));
      VAGT_CHECK_OK(append(headers_, name, value));
    }
  }
  if (!authorization_.empty()) VAGT_CHECK_OK(append(headers_, "Authorization", authorization_));
  if (request_.accept_compression && !has_header(request_, "Accept-Encoding")) {
    VAGT_CHECK_OK(append(headers_, "Accept-Encoding", "gzip"));
  }
  if (!has_header(request_, "Content-Type")) suppress(headers_, "Content-Type");
  suppress(headers_, "Expect");  // no round trip before the body
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
  return {};
}

size_t HttpTransfer::on_header(char* data, size_t size, size_t count, void* self_pointer) {
  auto& self = *static_cast<HttpTransfer*>(self_pointer);
  std::string_view line(data, size * count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // an interim answer's headers do not count
    self.response_.headers.clear();
  } else if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    self.response_.headers.emplace_back(line.substr(0, colon), value);
  } else if (line.empty() && self.request_.on_body) {
    long status = 0;
    curl_easy_getinfo(self.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    self.is_unwanted_ = status == 200 && !self.request_.on_body("");
    if (self.is_unwanted_) return 0;
  }
  return size * count;
}

size_t HttpTransfer::on_body(char* data, size_t size, size_t count, void* self_pointer) {
  auto& self = *static_cast<HttpTransfer*>(self_pointer);
  const size_t bytes = size * count;
  if (self.request_.on_body) {
    long status = 0;
    curl_easy_getinfo(self.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status == 200) {
      self.is_unwanted_ = !self.request_.on_body(std::string_view(data, bytes));
      return self.is_unwanted_ ? 0 : bytes;
    }
  }
  const uint64_t limit = self.request_.max_body_bytes;
  if (limit != 0 && bytes > limit - self.response_.body.size()) {
    self.is_too_large_ = true;
    return 0;
  }
  self.response_.body.append(data, bytes);
  return bytes;
}

void HttpTransfer::on_end(CURLcode code) {
  if (is_too_large_) {
    fail({Code::LimitExceeded, "body size limit exceeded: more than " +
                                   std::to_string(request_.max_body_bytes) + " bytes"});
    return;
  }
  if (is_unwanted_) {
    fail({Code::Cancelled, "the receiver wants no more of the body"});
    return;
  }
  if (code != CURLE_OK) {
    fail(curl_failure(easy_.get(), code, url_.host, port_of(url_), error_text_.c_str()));
    return;
  }
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  if (should_redirect()) {
    if (Status refused = redirect(); !refused.ok()) {
      fail(std::move(refused));
      return;
    }
    attempt();
    return;
  }
  response_.elapsed = std::chrono::duration_cast<Duration>(steady_clock::now() - started_);
  finish_(std::move(response_));
}

bool HttpTransfer::should_redirect() const {
  if (!profile_->follow_redirects || response_.header("Location").empty()) return false;
  const int status = response_.status;
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// As Go's client: 307 and 308 repeat the request, the others become a GET without body.
Status HttpTransfer::redirect() {
  if (++redirects_ > kMaxRedirects) return {Code::Unavailable, "stopped after 10 redirects"};
  VAGT_TRY(const std::string next,
           resolve(request_url(url_, url_.host), std::string(response_.header("Location"))));
  auto target = parse_url(next);
  if (!target || (target->scheme != "http" && target->scheme != "https")) {
    return {Code::Unavailable, "the redirect does not lead to an http or https URL"};
  }
  UrlParts to = std::move(*target);
  if (!keeps_credentials(url_, to)) {
    authorization_.clear();
    sends_config_headers_ = false;
    std::erase_if(request_.headers, [](const auto& header) {
      return is_credential_header(header.first) || equals_ignoring_case(header.first, "Host");
    });
  }
  if (!to.user.empty()) authorization_ = basic_header(to.user, to.password);
  const bool repeats = response_.status == 307 || response_.status == 308;
  if (!repeats && request_.method != "GET" && request_.method != "HEAD") {
    request_.method = "GET";
    request_.body.clear();
    std::erase_if(request_.headers, [](const auto& header) {
      return equals_ignoring_case(header.first, "Content-Type") ||
             equals_ignoring_case(header.first, "Content-Encoding");
    });
  }
  url_ = std::move(to);
  return {};
}

}  // namespace vagt::net
