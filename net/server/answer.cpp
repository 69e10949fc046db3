#include "net/server/answer.h"

#include <algorithm>
#include <array>

#include "net/compression.h"

namespace vagt::net {
namespace {

constexpr size_t kWorthCompressing = 1024;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool has_header(const Headers& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [name](const auto& header) {
    return equals_ignoring_case(header.first, name);
  });
}

// "q=0", "q=0.0", "q=0.000"
bool is_refused(std::string_view parameters) {
  const size_t equals = parameters.find("q=");
  if (equals == std::string_view::npos) return false;
  const std::string_view weight = trimmed(parameters.substr(equals + 2));
  return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

// A line break in a value would begin a header of its own.
void append_header(std::string& out, std::string_view name, std::string_view value) {
  const size_t start = out.size();
  out.append(name).append(": ").append(value);
  std::replace_if(
      out.begin() + static_cast<ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  out += "\r\n";
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view item = trimmed(accept_encoding.substr(0, comma));
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view coding = trimmed(item.substr(0, semicolon));
    if (equals_ignoring_case(coding, "gzip")) return !is_refused(item.substr(semicolon));
  }
  return false;
}

void encode_body(const ServerRequest& request, ServerResponse& response) {
  if (response.body.size() < kWorthCompressing) return;
  if (has_header(response.headers, "Content-Encoding")) return;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!accepts_gzip(request.header("Accept-Encoding"))) return;
  std::string packed = gzip(response.body);
  if (packed.empty() || packed.size() >= response.body.size()) return;
  response.body = std::move(packed);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

void add_cors(const ServerRequest& request, const Regex& origins, bool any,
              ServerResponse& response) {
  const std::string_view origin = request.header("Origin");
  if (origin.empty()) return;
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "Accept, Authorization, Content-Type, Origin");
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  response.headers.emplace_back("Access-Control-Expose-Headers", "Date");
  response.headers.emplace_back("Vary", "Origin");
  if (any) {
    response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  } else if (origins.matches(origin)) {
    response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  }
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string response_head(const ServerResponse& response, std::string_view connection,
                          Timestamp now) {
  std::string out;
  out.reserve(256);
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason(response.status)).append("\r\n");
  if (!response.content_type.empty() && has_body(response.status)) {
    append_header(out, "Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  append_header(out, "Date", http_date(now));
  if (has_body(response.status)) {
    append_header(out, "Content-Length", std::to_string(response.body.size()));
  }
  if (!connection.empty()) append_header(out, "Connection", connection);
  out += "\r\n";
  return out;
}

std::string http_date(Timestamp t) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(t - day));
  return fmt::format(
      "{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

}  // namespace vagt::net
