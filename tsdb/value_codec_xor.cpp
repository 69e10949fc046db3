// XOR with the value before, as in "Gorilla: a fast, scalable, in-memory time series database":
// for doubles that are not short decimals.
#include <algorithm>

#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

class BitWriter {
 public:
  explicit BitWriter(std::string& out) : out_(out) {}
  ~BitWriter() {
    if (filled_ > 0) out_.push_back(static_cast<char>(buffer_ << (8 - filled_)));
  }
  void write(uint64_t bits, unsigned n) {  // n <= 64, the low n bits, highest first
    for (unsigned left = n; left > 0;) {
      const unsigned take = std::min(left, 8 - filled_);
      const auto piece = static_cast<unsigned>(bits >> (left - take)) & ((1u << take) - 1);
      buffer_ = buffer_ << take | piece;
      filled_ += take;
      left -= take;
      if (filled_ == 8) {
        out_.push_back(static_cast<char>(buffer_));
        buffer_ = 0;
        filled_ = 0;
      }
    }
  }

 private:
  std::string& out_;
  unsigned buffer_ = 0, filled_ = 0;
};

class BitReader {
 public:
  explicit BitReader(ByteReader& in) : in_(in) {}
  uint64_t read(unsigned n) {
    uint64_t bits = 0;
    while (n > 0) {
      if (left_ == 0) {
        buffer_ = in_.byte();
        left_ = 8;
        if (!in_.ok()) return 0;
      }
      const unsigned take = std::min(n, left_);
      bits = bits << take | ((buffer_ >> (left_ - take)) & ((1u << take) - 1));
      left_ -= take;
      n -= take;
    }
    return bits;
  }

 private:
  ByteReader& in_;
  unsigned buffer_ = 0, left_ = 0;
};

}  // namespace

void encode_xor(std::span<const double> v, std::string& out) {
  BitWriter bits(out);
  uint64_t before = std::bit_cast<uint64_t>(v[0]);
  bits.write(before, 64);
  unsigned leading = 64, trailing = 0;  // of the window in force; 64: none yet
  for (size_t i = 1; i < v.size(); ++i) {
    const uint64_t now = std::bit_cast<uint64_t>(v[i]);
    const uint64_t change = now ^ before;
    before = now;
    if (change == 0) {
      bits.write(0, 1);
      continue;
    }
    const auto zeros = std::min(31u, static_cast<unsigned>(std::countl_zero(change)));
    const auto tail = static_cast<unsigned>(std::countr_zero(change));
    if (leading != 64 && zeros >= leading && tail >= trailing) {
      bits.write(0b10, 2);
    } else {
      leading = zeros;
      trailing = tail;
      bits.write(0b11, 2);
      bits.write(leading, 5);
      bits.write(64 - leading - trailing - 1, 6);
    }
    bits.write(change >> trailing, 64 - leading - trailing);
  }
}

bool decode_xor(ByteReader& in, std::span<double> v) {
  BitReader bits(in);
  uint64_t value = bits.read(64);
  v[0] = std::bit_cast<double>(value);
  unsigned leading = 0, length = 0;
  for (size_t i = 1; i < v.size(); ++i) {
    if (bits.read(1) != 0) {
      if (bits.read(1) != 0) {
        leading = static_cast<unsigned>(bits.read(5));
        length = static_cast<unsigned>(bits.read(6)) + 1;
      }
      if (length == 0 || leading + length > 64) return false;
      value ^= bits.read(length) << (64 - leading - length);
    }
    v[i] = std::bit_cast<double>(value);
  }
  return in.ok();
}

}  // namespace vagt::tsdb
