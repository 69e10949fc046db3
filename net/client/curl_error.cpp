#include "net/client/curl_error.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace vagt::net {
namespace {

// strerror's words in Go's case: "connection refused".
std::string errno_text(long error) {
  char buffer[128];
  std::string text = strerror_r(static_cast<int>(error), buffer, sizeof buffer);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

Status connect_failure(CURL* easy, const std::string& host, const std::string& port,
                       const std::string& detail) {
  long error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
  const std::string why = error != 0 ? errno_text(error) : detail;
  return {Code::Unavailable, "dial tcp " + bracketed(host) + ":" + port + ": connect: " + why};
}

std::string or_else(const std::string& detail, CURLcode code) {
  return detail.empty() ? curl_easy_strerror(code) : detail;
}

}  // namespace

Status curl_failure(CURL* easy, CURLcode code, const std::string& host, const std::string& port,
                    const std::string& detail) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::Timeout, "context deadline exceeded"};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::Unavailable, "dial tcp: lookup " + host + ": no such host"};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {Code::Unavailable, "proxyconnect tcp: " + or_else(detail, code)};
    case CURLE_COULDNT_CONNECT:
      return connect_failure(easy, host, port, detail);
    case CURLE_GOT_NOTHING:
      return {Code::Unavailable, "EOF: the server closed the connection without an answer"};
    case CURLE_PARTIAL_FILE:
      return {Code::Unavailable, "unexpected EOF: " + or_else(detail, code)};
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return {Code::Unavailable,
              "read tcp " + bracketed(host) + ":" + port + ": " + or_else(detail, code)};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      return {Code::Unavailable, "tls: " + or_else(detail, code)};
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return Status::invalid("tls: " + or_else(detail, code));
    case CURLE_UNSUPPORTED_PROTOCOL:  // schemes are checked before; this is "HTTP/0.9"
    case CURLE_WEIRD_SERVER_REPLY:
      return {Code::Unavailable, "malformed HTTP response: " + or_else(detail, code)};
    case CURLE_BAD_CONTENT_ENCODING:  // content codings are not libcurl's to undo here
      return {Code::Unavailable, "unsupported transfer encoding"};
    case CURLE_OUT_OF_MEMORY:  // libcurl's word for a header line beyond its limit, too
      return {Code::Unavailable, "out of memory, or a header line of more than 100 KiB"};
    case CURLE_URL_MALFORMAT:
      return Status::invalid("invalid URL: " + or_else(detail, code));
    default:
      return {Code::Unavailable, or_else(detail, code)};
  }
}

}  // namespace vagt::net
