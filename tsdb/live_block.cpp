#include "tsdb/live_block.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tsdb/bytes.h"
#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

// tag | decimal places, the last integer (eight bytes, it changes), zigzag first time, varint step,
// zigzag first integer, zigzag center; then groups: a byte w, and eight times w bits. What is
// packed is the zigzag of the difference to the integer before, less the center.
constexpr uint8_t kTag = 0xf0;
constexpr size_t kLastAt = 1;
constexpr unsigned kWidest = 56;

struct Head {
  int exponent = 0;
  int64_t last = 0, first_t = 0, step = 0, first = 0, center = 0;
};

Head read_head(ByteReader& in) {
  Head head;
  head.exponent = in.byte() & 15;
  head.last = std::bit_cast<int64_t>(in.bits64());
  head.first_t = in.zigzagged();
  head.step = static_cast<int64_t>(in.varint());
  head.first = in.zigzagged();
  head.center = in.zigzagged();
  return head;
}

using Integers = std::array<int64_t, kLiveGroup>;

bool scale_all(LiveValues v, int exponent, Integers& m) {
  bool good = true;
  for (size_t i = 0; i < kLiveGroup; ++i) good &= scaled_decimal(v[i], exponent, m[i]);
  return good;
}

bool put_group(const Integers& m, int64_t before, int64_t center, std::string& out) {
  std::array<uint64_t, kLiveGroup> rest;
  uint64_t all = 0;
  for (size_t i = 0; i < kLiveGroup; ++i) {
    rest[i] = zigzag(wrap_sub(wrap_sub(m[i], i == 0 ? before : m[i - 1]), center));
    all |= rest[i];
  }
  const auto width = static_cast<unsigned>(std::bit_width(all));
  if (width > kWidest) return false;
  char bytes[1 + kWidest + 8];
  bytes[0] = static_cast<char>(width);
  char* at = bytes + 1;
  unsigned __int128 buffer = 0;
  unsigned filled = 0;
  for (const uint64_t each : rest) {
    buffer |= static_cast<unsigned __int128>(each) << filled;
    filled += width;
    for (; filled >= 8; filled -= 8, buffer >>= 8) *at++ = static_cast<char>(buffer);
  }
  out.append(bytes, 1 + width);
  return true;
}

}  // namespace

bool is_live_block(std::string_view block) {
  return !block.empty() && (static_cast<uint8_t>(block[0]) & 0xf0) == kTag;
}
int live_exponent(std::string_view block) { return block[0] & 15; }

bool live_start(LiveTimes t, LiveValues v, int exponent, std::string& out) {
  const int64_t step = wrap_sub(t[1], t[0]);
  for (size_t i = 2; i < kLiveGroup; ++i)
    if (wrap_sub(t[i], t[i - 1]) != step) return false;
  Integers m;
  while (!scale_all(v, exponent, m))
    if (++exponent > kMaxDecimalPlaces) return false;
  std::array<int64_t, kLiveGroup - 1> deltas;
  for (size_t i = 1; i < kLiveGroup; ++i) deltas[i - 1] = wrap_sub(m[i], m[i - 1]);
  std::nth_element(deltas.begin(), deltas.begin() + 3, deltas.end());
  const int64_t center = deltas[3];
  std::string group;
  if (!put_group(m, wrap_sub(m[0], center), center, group)) return false;
  out.push_back(static_cast<char>(kTag | exponent));
  put_bits64(out, std::bit_cast<double>(m.back()));
  put_zigzag(out, t[0]);
  put_varint(out, static_cast<uint64_t>(step));
  put_zigzag(out, m[0]);
  put_zigzag(out, center);
  out += group;
  return true;
}

bool live_extend(std::span<char> block, size_t count, LiveTimes t, LiveValues v,
                 std::string& group) {
  ByteReader in({block.data(), block.size()});
  const Head head = read_head(in);
  int64_t expected =
      wrap_add(head.first_t, static_cast<int64_t>(static_cast<uint64_t>(head.step) * count));
  for (const int64_t each : t) {
    if (each != expected) return false;
    expected = wrap_add(expected, head.step);
  }
  Integers m;
  if (!scale_all(v, head.exponent, m) || !put_group(m, head.last, head.center, group)) return false;
  std::memcpy(block.data() + kLastAt, &m.back(), 8);
  return true;
}

void live_decode(std::string_view block, RawColumns& out) {
  ByteReader in(block);
  const Head head = read_head(in);
  const double power = decimal_power(head.exponent);
  int64_t m = wrap_sub(head.first, head.center), t = head.first_t;
  while (!in.done()) {
    const unsigned width = in.byte();
    char packed[kWidest + 8] = {};
    const std::string_view bytes = in.bytes(width);
    std::memcpy(packed, bytes.data(), bytes.size());
    const uint64_t mask = (1ULL << width) - 1;
    for (size_t i = 0; i < kLiveGroup; ++i) {
      uint64_t word;
      std::memcpy(&word, packed + i * width / 8, 8);
      m = wrap_add(m, wrap_add(head.center, unzigzag(word >> (i * width % 8) & mask)));
      out.push(t, static_cast<double>(m) / power);
      t = wrap_add(t, head.step);
    }
  }
}

}  // namespace vagt::tsdb
