// Entropy coding of integers (rANS): what a finished day's residuals cost is close to what they
// tell. Slower to write than pack.h and worth its table only for some hundred values.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tsdb/bytes.h"

namespace vagt::tsdb {

// About the bytes that entropy_code() would append.
size_t entropy_size(std::span<const int64_t> values);
// Appends `values`; docs/formats/chunk.md has the layout.
void entropy_code(std::span<const int64_t> values, std::string& out);
// Fills `values`; false: the bytes are damaged.
bool entropy_decode(ByteReader& in, std::span<int64_t> values);

}  // namespace vagt::tsdb
