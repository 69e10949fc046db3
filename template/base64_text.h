// Base64 and percent encoding of the template functions.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::tmpl {

// The URL-safe alphabet, padded.
std::string encode_base64_url(std::string_view text);
Result<std::string> decode_base64_url(std::string_view text);
// url.QueryUnescape. InvalidArgument: `invalid URL escape "%zz"`.
Result<std::string> unescape_query(std::string_view text);

}  // namespace vagt::tmpl
