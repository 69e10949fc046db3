#include "tsdb/live_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "tsdb/bytes.h"
#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

// tag | decimal places, the last integer (eight bytes, it changes), the number of quiet groups at
// the end (a byte, it changes), varint first time less the base, varint step, zigzag first integer,
// zigzag center; then groups: a byte w, and six times w bits. What is packed is the zigzag of the
// difference to the integer before, less the center. Groups of w = 0 are quiet: those at the end
// are only counted, those before another group are a byte 128 + their number.
constexpr uint8_t kTag = 0xf0;
constexpr size_t kLastAt = 1, kQuietAt = 9;
constexpr unsigned kWidest = 56;
constexpr unsigned kRun = 0x80;
constexpr unsigned kMostQuiet = 0x7f;
constexpr size_t kMost = UINT16_MAX;  // samples of a block that can be right
constexpr size_t packed_size(unsigned width) { return (kLiveGroup * width + 7) / 8; }

struct Head {
  int exponent = 0;
  unsigned quiet = 0;
  int64_t last = 0, first_t = 0, step = 0, first = 0, center = 0;
};

Head read_head(ByteReader& in, int64_t base) {
  Head head;
  head.exponent = in.byte() & 15;
  head.last = std::bit_cast<int64_t>(in.bits64());
  head.quiet = in.byte();
  head.first_t = wrap_add(base, static_cast<int64_t>(in.varint()));
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

// What a group packs; its width in bits, or nothing when that is too wide.
std::optional<unsigned> differences(const Integers& m, int64_t before, int64_t center,
                                    std::array<uint64_t, kLiveGroup>& rest) {
  uint64_t all = 0;
  for (size_t i = 0; i < kLiveGroup; ++i) {
    rest[i] = zigzag(wrap_sub(wrap_sub(m[i], i == 0 ? before : m[i - 1]), center));
    all |= rest[i];
  }
  const auto width = static_cast<unsigned>(std::bit_width(all));
  if (width > kWidest) return std::nullopt;
  return width;
}

void put_group(const std::array<uint64_t, kLiveGroup>& rest, unsigned width, std::string& out) {
  char bytes[1 + packed_size(kWidest) + 16];
  bytes[0] = static_cast<char>(width);
  char* at = bytes + 1;
  unsigned __int128 buffer = 0;
  unsigned filled = 0;
  for (const uint64_t each : rest) {
    buffer |= static_cast<unsigned __int128>(each) << filled;
    filled += width;
    for (; filled >= 8; filled -= 8, buffer >>= 8) *at++ = static_cast<char>(buffer);
  }
  if (filled > 0) *at = static_cast<char>(buffer);
  out.append(bytes, 1 + packed_size(width));
}

}  // namespace

bool is_live_block(std::string_view block) {
  return !block.empty() && (static_cast<uint8_t>(block[0]) & 0xf0) == kTag;
}
int live_exponent(std::string_view block) { return block[0] & 15; }

bool live_start(LiveTimes t, LiveValues v, int exponent, int64_t base, std::string& out) {
  const int64_t step = wrap_sub(t[1], t[0]);
  for (size_t i = 2; i < kLiveGroup; ++i)
    if (wrap_sub(t[i], t[i - 1]) != step) return false;
  Integers m;
  while (!scale_all(v, exponent, m))
    if (++exponent > kMaxDecimalPlaces) return false;
  std::array<int64_t, kLiveGroup - 1> deltas;
  for (size_t i = 1; i < kLiveGroup; ++i) deltas[i - 1] = wrap_sub(m[i], m[i - 1]);
  std::nth_element(deltas.begin(), deltas.begin() + 2, deltas.end());
  const int64_t center = deltas[2];
  std::array<uint64_t, kLiveGroup> rest;
  const auto width = differences(m, wrap_sub(m[0], center), center, rest);
  if (!width) return false;
  out.push_back(static_cast<char>(kTag | exponent));
  put_bits64(out, std::bit_cast<double>(m.back()));
  out.push_back(*width == 0 ? 1 : 0);
  put_varint(out, static_cast<uint64_t>(wrap_sub(t[0], base)));
  put_varint(out, static_cast<uint64_t>(step));
  put_zigzag(out, m[0]);
  put_zigzag(out, center);
  if (*width > 0) put_group(rest, *width, out);
  return true;
}

bool live_extend(std::span<char> block, size_t count, LiveTimes t, LiveValues v, int64_t base,
                 std::string& group) {
  ByteReader in({block.data(), block.size()});
  const Head head = read_head(in, base);
  int64_t expected =
      wrap_add(head.first_t, static_cast<int64_t>(static_cast<uint64_t>(head.step) * count));
  for (const int64_t each : t) {
    if (each != expected) return false;
    expected = wrap_add(expected, head.step);
  }
  Integers m;
  if (!scale_all(v, head.exponent, m)) return false;
  std::array<uint64_t, kLiveGroup> rest;
  const auto width = differences(m, head.last, head.center, rest);
  if (!width || (*width == 0 && head.quiet == kMostQuiet)) return false;
  unsigned quiet = head.quiet + 1;
  if (*width > 0) {
    if (head.quiet > 0) group.push_back(static_cast<char>(kRun | head.quiet));
    put_group(rest, *width, group);
    quiet = 0;
  }
  std::memcpy(block.data() + kLastAt, &m.back(), 8);
  block[kQuietAt] = static_cast<char>(quiet);
  return true;
}

namespace {

// Where decoding is: the integer and the time to come.
struct Decoder {
  const Head head;
  const double power;
  RawColumns& out;
  int64_t m, t;

  void push(uint64_t packed) {
    m = wrap_add(m, wrap_add(head.center, unzigzag(packed)));
    out.push(t, static_cast<double>(m) / power);
    t = wrap_add(t, head.step);
  }
  void push_quiet(unsigned groups) {
    for (size_t i = 0; i < groups * kLiveGroup; ++i) push(0);
  }
  void push_group(std::string_view bytes, unsigned width) {
    char packed[packed_size(kWidest) + 8] = {};
    std::memcpy(packed, bytes.data(), bytes.size());
    const uint64_t mask = (1ULL << width) - 1;
    for (size_t i = 0; i < kLiveGroup; ++i) {
      uint64_t word;
      std::memcpy(&word, packed + i * width / 8, 8);
      push(word >> (i * width % 8) & mask);
    }
  }
};

}  // namespace

bool live_decode(std::string_view block, int64_t base, RawColumns& out) {
  ByteReader in(block);
  const Head head = read_head(in, base);
  if (!in.ok()) return false;
  const size_t before = out.size();
  Decoder decoder{head, decimal_power(head.exponent), out, wrap_sub(head.first, head.center),
                  head.first_t};
  while (!in.done()) {
    const unsigned width = in.byte();
    const bool quiet = width >= kRun;
    const std::string_view bytes = in.bytes(quiet ? 0 : packed_size(width));
    if (!in.ok() || (!quiet && (width == 0 || width > kWidest)) || out.size() - before > kMost) {
      out.t.resize(before);
      out.v.resize(before);
      return false;
    }
    if (quiet) {
      decoder.push_quiet(width - kRun);
    } else {
      decoder.push_group(bytes, width);
    }
  }
  decoder.push_quiet(head.quiet);
  return true;
}

}  // namespace vagt::tsdb
