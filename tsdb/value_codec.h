// The value half of a chunk.
#pragma once

#include <span>
#include <string>

#include "tsdb/bytes.h"
#include "tsdb/codec.h"

namespace vagt::tsdb {

// Appends the values by the smallest codec and says which.
ValueCodec encode_values(std::span<const double> v, std::string& out);
// Fills `v`; false: damaged.
bool decode_values(ValueCodec codec, ByteReader& in, std::span<double> v);

// value_codec_decimal.cpp. Values that are exact in decimal as scaled integers, value, delta or
// delta of delta, bit-packed; a few that are not are patched in. False: too many are not, and
// nothing was appended.
bool encode_decimal(std::span<const double> v, std::string& out);
bool decode_decimal(ByteReader& in, std::span<double> v);

// value_codec_xor.cpp.
void encode_xor(std::span<const double> v, std::string& out);
bool decode_xor(ByteReader& in, std::span<double> v);

}  // namespace vagt::tsdb
