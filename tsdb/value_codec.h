// The value half of a chunk.
#pragma once

#include <span>
#include <string>

#include "tsdb/bytes.h"
#include "tsdb/codec.h"

namespace vagt::tsdb {

// Appends the values by the smallest codec and says which.
ValueCodec encode_values(std::span<const double> v, Effort effort, std::string& out);
// Fills `v`; false: damaged.
bool decode_values(ValueCodec codec, ByteReader& in, std::span<double> v);
// Fills `v` with the values from index `begin` on, of `n`; see decode_chunk_between().
bool decode_values_between(ValueCodec codec, ByteReader& in, size_t n, size_t begin,
                           ChunkMarks& marks, std::span<double> v);

// value_codec_decimal.cpp. Values that are exact in decimal as scaled integers, value, delta or
// delta of delta; a few that are not are patched in. False: too many are not, and
// nothing was appended.
// The integer m with m / 10^places == v bit for bit, if there is one.
inline constexpr int kMaxDecimalPlaces = 15;
bool scaled_decimal(double v, int places, int64_t& m);
double decimal_power(int places);
enum class IntCoding : uint8_t { Packed, Entropy };  // pack.h, entropy.h
bool encode_decimal(std::span<const double> v, IntCoding coding, std::string& out);
bool decode_decimal(ByteReader& in, IntCoding coding, std::span<double> v);

// Values as integers times a power of two: what is not decimal, or beyond 2^53. False: they span
// more bits than an integer has.
bool encode_binary(std::span<const double> v, std::string& out);
bool decode_binary(ByteReader& in, std::span<double> v);
// As decode_values_between(), of those two with entropy-coded integers.
bool decode_decimal_between(ByteReader& in, size_t n, size_t begin, ChunkMarks& marks,
                            std::span<double> v);
bool decode_binary_between(ByteReader& in, size_t n, size_t begin, ChunkMarks& marks,
                           std::span<double> v);

// value_codec_xor.cpp.
void encode_xor(std::span<const double> v, std::string& out);
bool decode_xor(ByteReader& in, std::span<double> v);

}  // namespace vagt::tsdb
