// Base64 (RFC 4648, the standard alphabet).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vagt::base {

// White space is passed over. nullopt: it is none, or lacks its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace vagt::base
