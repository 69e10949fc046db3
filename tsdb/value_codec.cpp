#include "tsdb/value_codec.h"

#include <algorithm>
#include <vector>

namespace vagt::tsdb {
namespace {

constexpr size_t kFewestForEntropy = 128;  // below, its table costs more than it saves

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

size_t count_runs(std::span<const double> v) {
  size_t runs = 1;
  for (size_t i = 1; i < v.size(); ++i) runs += !same_bits(v[i], v[i - 1]);
  return runs;
}

void encode_runs(std::span<const double> v, size_t runs, std::string& out) {
  put_varint(out, runs);
  for (size_t begin = 0; begin < v.size();) {
    size_t end = begin + 1;
    while (end < v.size() && same_bits(v[end], v[begin])) ++end;
    put_varint(out, end - begin);
    put_bits64(out, v[begin]);
    begin = end;
  }
}

bool decode_runs(ByteReader& in, std::span<double> v) {
  const uint64_t runs = in.varint();
  size_t at = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    const uint64_t length = in.varint();
    const double value = in.bits64();
    if (!in.ok() || length > v.size() - at) return false;
    for (uint64_t j = 0; j < length; ++j) v[at++] = value;
  }
  return at == v.size();
}

bool decode_constant(ByteReader& in, std::span<double> v) {
  const double value = in.bits64();
  for (double& each : v) each = value;
  return in.ok();
}

bool decode_raw(ByteReader& in, std::span<double> v) {
  for (double& each : v) each = in.bits64();
  return in.ok();
}

}  // namespace

ValueCodec encode_values(std::span<const double> v, Effort effort, std::string& out) {
  const size_t runs = count_runs(v);
  if (runs == 1) {
    put_bits64(out, v[0]);
    return ValueCodec::Constant;
  }
  const size_t begin = out.size();
  ValueCodec codec = ValueCodec::Decimal;
  if (!encode_decimal(v, IntCoding::Packed, out)) {
    encode_xor(v, out);
    codec = ValueCodec::Xor;
    std::string coded;
    if (effort == Effort::Small && v.size() >= kFewestForEntropy && encode_binary(v, coded) &&
        coded.size() < out.size() - begin) {
      out.replace(begin, std::string::npos, coded);
      codec = ValueCodec::Binary;
    }
  } else if (effort == Effort::Small && v.size() >= kFewestForEntropy) {
    std::string coded;
    if (encode_decimal(v, IntCoding::Entropy, coded) && coded.size() < out.size() - begin) {
      out.replace(begin, std::string::npos, coded);
      codec = ValueCodec::Entropy;
    }
  }
  if (runs * 10 < out.size() - begin) {
    std::string listed;
    encode_runs(v, runs, listed);
    if (listed.size() < out.size() - begin) {
      out.replace(begin, std::string::npos, listed);
      codec = ValueCodec::RunLength;
    }
  }
  if (out.size() - begin > v.size() * 8) {
    out.resize(begin);
    for (const double each : v) put_bits64(out, each);
    codec = ValueCodec::Raw;
  }
  return codec;
}

bool decode_values(ValueCodec codec, ByteReader& in, std::span<double> v) {
  switch (codec) {
    case ValueCodec::Constant:
      return decode_constant(in, v);
    case ValueCodec::RunLength:
      return decode_runs(in, v);
    case ValueCodec::Decimal:
      return decode_decimal(in, IntCoding::Packed, v);
    case ValueCodec::Xor:
      return decode_xor(in, v);
    case ValueCodec::Raw:
      return decode_raw(in, v);
    case ValueCodec::Entropy:
      return decode_decimal(in, IntCoding::Entropy, v);
    case ValueCodec::Binary:
      return decode_binary(in, v);
  }
  return false;
}

bool decode_values_between(ValueCodec codec, ByteReader& in, size_t n, size_t begin,
                           ChunkMarks& marks, std::span<double> v) {
  if (codec == ValueCodec::Constant) return decode_constant(in, v);
  if (codec == ValueCodec::Entropy) return decode_decimal_between(in, n, begin, marks, v);
  if (codec == ValueCodec::Binary) return decode_binary_between(in, n, begin, marks, v);
  std::vector<double> all(n);
  if (!decode_values(codec, in, all)) return false;
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), v.size(), v.begin());
  return true;
}

}  // namespace vagt::tsdb
