// Bit-packing of integers: frame of reference in blocks of 128, outliers patched in afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tsdb/bytes.h"

namespace vagt::tsdb {

inline constexpr size_t kPackBlock = 128;

// Bytes that pack_ints() would append.
size_t packed_size(std::span<const int64_t> values);
void pack_ints(std::span<const int64_t> values, std::string& out);
// Fills `values`; false: the bytes are damaged.
bool unpack_ints(ByteReader& in, std::span<int64_t> values);

}  // namespace vagt::tsdb
