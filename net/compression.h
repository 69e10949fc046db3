// Content encodings of HTTP bodies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::net {

// Level 1: the answers are text and the box is small.
std::string gzip(std::string_view body);

// Inflates gzip, deflate or zstd under a limit; 0: no limit. "identity" or "" copies. Any thread.
// LimitExceeded: more than max_bytes. Corruption: not such a stream, or cut short. InvalidArgument:
// unknown encoding.
Result<std::string> decompress(std::string_view body, std::string_view content_encoding,
                               uint64_t max_bytes);

}  // namespace vagt::net
