#include "net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace vagt::net {
namespace {

struct Address {
  std::array<uint8_t, 16> bytes{};
  int bits = 0;  // 32 or 128
};

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 32;
    return address;
  }
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 128;
    return address;
  }
  return std::nullopt;
}

bool share_prefix(const Address& a, const Address& b, int bits) {
  if (a.bits != b.bits) return false;
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(a.bytes.data(), b.bytes.data(), whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const int mask = 0xff << (8 - bits % 8);
  return ((a.bytes[whole] ^ b.bytes[whole]) & mask) == 0;
}

bool is_loopback(const std::string& host) {
  if (equals_ignoring_case(host, "localhost")) return true;
  const auto address = parse_address(host);
  if (!address) return false;
  if (address->bits == 32) return address->bytes[0] == 127;
  return share_prefix(*address, *parse_address("::1"), 128);
}

// True, false, or nothing when `entry` is no CIDR range.
std::optional<bool> in_range(std::string_view entry, const std::string& host) {
  const size_t slash = entry.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto network = parse_address(std::string(entry.substr(0, slash)));
  int bits = -1;
  std::from_chars(entry.data() + slash + 1, entry.data() + entry.size(), bits);
  if (!network || bits < 0 || bits > network->bits) return std::nullopt;
  const auto address = parse_address(host);
  return address && share_prefix(*address, *network, bits);
}

bool host_matches(std::string_view entry, const std::string& host) {
  if (const auto answer = in_range(entry, host)) return *answer;
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  if (entry.starts_with('.')) {
    return host.size() > entry.size() &&
           equals_ignoring_case(std::string_view(host).substr(host.size() - entry.size()), entry);
  }
  if (equals_ignoring_case(entry, host)) return true;
  return host.size() > entry.size() && host[host.size() - entry.size() - 1] == '.' &&
         equals_ignoring_case(std::string_view(host).substr(host.size() - entry.size()), entry);
}

struct Entry {
  std::string_view host, port;
};

// "host:port", "[v6]:port", "v6", "host".
Entry split_entry(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t close = std::min(text.find(']'), text.size());
    const std::string_view rest = text.substr(std::min(close + 1, text.size()));
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  const size_t colon = text.find(':');
  const bool is_single =
      colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
  if (!is_single) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string first_set(const Environment& environment, const char* upper, const char* lower) {
  const std::string value = environment(upper);
  return value.empty() ? environment(lower) : value;
}

std::string with_scheme(std::string proxy) {
  if (proxy.empty() || proxy.find("://") != std::string::npos) return proxy;
  return "http://" + proxy;
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_excluded_from_proxy(std::string_view no_proxy, std::string_view host,
                            std::string_view port) {
  std::string name(host);
  if (name.ends_with('.')) name.pop_back();
  if (is_loopback(name)) return true;
  while (!no_proxy.empty()) {
    const size_t comma = std::min(no_proxy.find(','), no_proxy.size());
    const std::string_view text = trimmed(no_proxy.substr(0, comma));
    no_proxy.remove_prefix(std::min(comma + 1, no_proxy.size()));
    if (text.empty()) continue;
    if (text == "*") return true;
    const Entry entry = split_entry(text);
    const bool port_matches = entry.port.empty() || entry.port == port;
    if (port_matches && host_matches(entry.host, name)) return true;
  }
  return false;
}

std::string choose_proxy(const HttpClientConfig& config, const UrlParts& target,
                         const Environment& environment) {
  const bool is_https = target.scheme == "https";
  const std::string port = !target.port.empty() ? target.port : is_https ? "443" : "80";
  if (!config.proxy_url.empty()) {
    const bool has_list = !config.no_proxy.empty();
    if (has_list && is_excluded_from_proxy(config.no_proxy, target.host, port)) return "";
    return with_scheme(config.proxy_url);
  }
  if (!config.proxy_from_environment) return "";
  // In a CGI program HTTP_PROXY is the client's "Proxy:" header ("httpoxy").
  const bool is_cgi = !environment("REQUEST_METHOD").empty();
  const std::string proxy = is_https ? first_set(environment, "HTTPS_PROXY", "https_proxy")
                            : is_cgi ? ""
                                     : first_set(environment, "HTTP_PROXY", "http_proxy");
  if (is_excluded_from_proxy(first_set(environment, "NO_PROXY", "no_proxy"), target.host, port)) {
    return "";
  }
  return with_scheme(proxy);
}

}  // namespace vagt::net
