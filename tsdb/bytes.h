// Integers in byte strings: varints, zigzag, and the big-endian ones that sort.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace vagt::tsdb {

inline uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t unzigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

// Two's complement, as damaged input must not be undefined behaviour.
inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

inline void put_varint(std::string& out, uint64_t v) {
  while (v >= 0x80) {
    out.push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out.push_back(static_cast<char>(v));
}
inline void put_zigzag(std::string& out, int64_t v) { put_varint(out, zigzag(v)); }
inline size_t varint_size(uint64_t v) {
  return v == 0 ? 1 : static_cast<size_t>((std::bit_width(v) + 6) / 7);
}

inline void put_bits64(std::string& out, double v) {  // little-endian
  const uint64_t bits = std::bit_cast<uint64_t>(v);
  char bytes[8];
  std::memcpy(bytes, &bits, 8);
  out.append(bytes, 8);
}

template <class T>
void put_big_endian(std::string& out, T v) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(v >> shift));
}

// Reads front to back; after the first short read `ok()` is false and every value is 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  bool ok() const { return !failed_; }
  bool done() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return fail();
      const auto byte = static_cast<uint8_t>(*at_++);
      v |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    return fail();
  }
  int64_t zigzagged() { return unzigzag(varint()); }
  uint8_t byte() {
    return at_ == end_ ? static_cast<uint8_t>(fail()) : static_cast<uint8_t>(*at_++);
  }
  double bits64() {
    if (left() < 8) return static_cast<double>(fail());
    uint64_t bits;
    std::memcpy(&bits, at_, 8);
    at_ += 8;
    return std::bit_cast<double>(bits);
  }
  double high_bits64(unsigned n) {  // the upper n bytes, little-endian; the lower ones are 0
    if (n > 8 || left() < n) return static_cast<double>(fail());
    uint64_t bits = 0;
    std::memcpy(&bits, at_, n);
    at_ += n;
    return std::bit_cast<double>(n == 0 ? 0 : bits << (64 - 8 * n));
  }
  template <class T>
  T big_endian() {
    if (left() < sizeof(T)) return static_cast<T>(fail());
    T v = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      v = static_cast<T>(static_cast<uint64_t>(v) << 8 | static_cast<uint8_t>(*at_++));
    return v;
  }
  std::string_view bytes(size_t n) {
    if (left() < n) {
      fail();
      return {};
    }
    const std::string_view taken(at_, n);
    at_ += n;
    return taken;
  }
  std::string_view sized() {  // varint length, then the bytes
    const uint64_t n = varint();
    return bytes(n);
  }

 private:
  uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }
  const char* at_;
  const char* end_;
  bool failed_ = false;
};

inline void put_sized(std::string& out, std::string_view bytes) {
  put_varint(out, bytes.size());
  out.append(bytes);
}

}  // namespace vagt::tsdb
