// URLs and query strings: pure text, used by client and server alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace vagt::net {

// Percent-encodes everything but unreserved characters.
std::string url_encode(std::string_view text);
// nullopt: a '%' that two hexadecimal digits do not follow.
std::optional<std::string> url_decode(std::string_view text, bool plus_is_space);

struct UrlParts {
  std::string scheme;          // lower case
  std::string user, password;  // decoded
  std::string host;            // without brackets
  std::string port;            // "" when the URL names none
  std::string path, query,
      fragment;  // as written; the path with its slash, the others without ? and #
};
// Absolute URLs with an authority only. InvalidArgument: says what is wrong, and does not repeat
// the URL.
Result<UrlParts> parse_url(std::string_view url);

// "a=1&b=2" to pairs, percent and plus decoded. Pairs that do not decode are left out; see
// query_string_fault.
std::vector<std::pair<std::string, std::string>> parse_query_string(std::string_view text);
// Why a query string is not one: `invalid URL escape "%zz"`; "" when it is fine.
std::string query_string_fault(std::string_view text);

// ASCII only, as header names and schemes are.
bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace vagt::net
