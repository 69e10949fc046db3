#include "net/url.h"

#include <algorithm>

namespace vagt::net {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

bool is_scheme(std::string_view text) {
  if (text.empty() || !((lower(text[0]) >= 'a' && lower(text[0]) <= 'z'))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  });
}

bool has_control_or_space(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

// Calls `take(name, value)` with the raw halves of each pair.
template <class Take>
void each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    take(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
}

Status split_userinfo(std::string_view info, UrlParts& out) {
  const size_t colon = std::min(info.find(':'), info.size());
  auto user = url_decode(info.substr(0, colon), false);
  auto password = url_decode(info.substr(std::min(colon + 1, info.size())), false);
  if (!user || !password) return Status::invalid("invalid percent escape in the URL's user info");
  out.user = std::move(*user);
  out.password = std::move(*password);
  return {};
}

Status split_host(std::string_view host_port, UrlParts& out) {
  std::string_view port;
  if (host_port.starts_with('[')) {
    const size_t close = host_port.find(']');
    if (close == std::string_view::npos) return Status::invalid("missing ']' in the URL's host");
    out.host = host_port.substr(1, close - 1);
    port = host_port.substr(close + 1);
    if (!port.empty() && port[0] != ':')
      return Status::invalid("invalid port after the URL's host");
  } else {
    const size_t colon = std::min(host_port.find(':'), host_port.size());
    out.host = host_port.substr(0, colon);
    port = host_port.substr(colon);
  }
  if (!port.empty()) port.remove_prefix(1);
  const bool is_number =
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    return Status::invalid("invalid port \":" + std::string(port) + "\" after host");
  }
  if (port.size() > 5 || (!port.empty() && std::stoi(std::string(port)) > 65535)) {
    return Status::invalid("port \"" + std::string(port) + "\" is out of range");
  }
  if (out.host.empty()) return Status::invalid("no host in the URL");
  out.port = port;
  return {};
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string url_encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

std::optional<std::string> url_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<UrlParts> parse_url(std::string_view url) {
  if (has_control_or_space(url)) {
    return Status::invalid("a space or control character in the URL");
  }
  UrlParts out;
  const size_t separator = url.find("://");
  if (separator == std::string_view::npos || !is_scheme(url.substr(0, separator))) {
    return Status::invalid("the URL has no scheme (expected http://… or https://…)");
  }
  out.scheme = url.substr(0, separator);
  std::transform(out.scheme.begin(), out.scheme.end(), out.scheme.begin(), lower);
  std::string_view rest = url.substr(separator + 3);

  if (const size_t hash = rest.find('#'); hash != std::string_view::npos) {
    out.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  if (const size_t question = rest.find('?'); question != std::string_view::npos) {
    out.query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  out.path = rest.substr(slash);
  std::string_view authority = rest.substr(0, slash);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    VAGT_CHECK_OK(split_userinfo(authority.substr(0, at), out));
    authority.remove_prefix(at + 1);
  }
  VAGT_CHECK_OK(split_host(authority, out));
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query_string(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  each_pair(text, [&out](std::string_view raw_name, std::string_view raw_value) {
    auto name = url_decode(raw_name, true);
    auto value = url_decode(raw_value, true);
    if (name && value) out.emplace_back(std::move(*name), std::move(*value));
  });
  return out;
}

std::string query_string_fault(std::string_view text) {
  for (size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    const bool is_escape =
        i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (!is_escape) return "invalid URL escape \"" + std::string(text.substr(i, 3)) + "\"";
  }
  return "";
}

}  // namespace vagt::net
