// Reading what a server sent as JSON, without trust: what is absent or of another kind is empty.
// Inside this folder only.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::scrape {

// Corruption: not JSON, with the place.
Result<boost::json::value> parse_json(std::string_view text);

// The member at `path` ("spec.ports"); null when there is none.
const boost::json::value* json_at(const boost::json::value& value, std::string_view path);
// "" when absent or no string.
std::string json_text(const boost::json::value& value, std::string_view path);
int64_t json_number(const boost::json::value& value, std::string_view path);  // 0 when absent
// 0 when absent or no port: another one would be somebody else's.
uint32_t json_port(const boost::json::value& value, std::string_view path);
bool json_bool(const boost::json::value& value, std::string_view path);  // false when absent
// An empty array when absent or no array.
const boost::json::array& json_list(const boost::json::value& value, std::string_view path);
// The members of an object of strings.
std::map<std::string, std::string> json_texts(const boost::json::value& value,
                                              std::string_view path);

}  // namespace vagt::scrape
