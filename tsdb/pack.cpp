#include "tsdb/pack.h"

#include <algorithm>
#include <array>
#include <bit>

namespace vagt::tsdb {
namespace {

struct Plan {
  int64_t base = 0;  // smallest value
  int width = 0;     // bits of a packed offset
  int patches = 0;   // offsets that need more
  size_t bytes = 0;  // of the whole block
};

uint64_t offset_of(int64_t value, int64_t base) {
  return static_cast<uint64_t>(value) - static_cast<uint64_t>(base);
}

// How many offsets have each width, widest first; few widths occur.
struct WidthCounts {
  std::array<uint8_t, 65> width{};
  std::array<uint8_t, 65> count{};
  size_t size = 0;
};

WidthCounts count_widths(std::span<const int64_t> block, int64_t base) {
  std::array<uint8_t, 65> of_width{};
  std::array<uint64_t, 2> present{};  // a bit for each width
  for (const int64_t v : block) {
    const auto width = static_cast<size_t>(std::bit_width(offset_of(v, base)));
    ++of_width[width];
    present[width / 64] |= uint64_t{1} << width % 64;
  }
  WidthCounts counts;
  for (size_t half = present.size(); half-- > 0;)
    while (present[half] != 0) {
      const auto bit = static_cast<size_t>(63 - std::countl_zero(present[half]));
      present[half] ^= uint64_t{1} << bit;
      const size_t width = half * 64 + bit;
      counts.width[counts.size] = static_cast<uint8_t>(width);
      counts.count[counts.size++] = of_width[width];
    }
  return counts;
}

// Only the widths that occur can be best: one bit more than needed helps nobody. A patch costs its
// index and the high bits.
Plan plan_block(std::span<const int64_t> block) {
  Plan plan;
  plan.base = *std::min_element(block.begin(), block.end());
  const WidthCounts counts = count_widths(block, plan.base);
  const size_t n = block.size();
  size_t best = SIZE_MAX, wider = 0;
  for (size_t i = 0; i < counts.size && wider * 2 <= n; ++i) {
    const size_t width = counts.width[i];
    size_t bytes = (n * width + 7) / 8;
    for (size_t j = 0; j < i; ++j)
      bytes += counts.count[j] * (1 + (counts.width[j] - width + 6) / 7);
    if (bytes < best) {
      best = bytes;
      plan.width = static_cast<int>(width);
      plan.patches = static_cast<int>(wider);
    }
    wider += counts.count[i];
  }
  plan.bytes = varint_size(zigzag(plan.base)) + 2 + best;
  return plan;
}

void put_packed(std::span<const int64_t> block, const Plan& plan, std::string& out) {
  const auto width = static_cast<unsigned>(plan.width);
  const uint64_t mask = width == 64 ? ~0ULL : (1ULL << width) - 1;
  unsigned __int128 buffer = 0;
  unsigned filled = 0;
  for (const int64_t v : block) {
    buffer |= static_cast<unsigned __int128>(offset_of(v, plan.base) & mask) << filled;
    filled += width;
    while (filled >= 8) {
      out.push_back(static_cast<char>(buffer));
      buffer >>= 8;
      filled -= 8;
    }
  }
  if (filled > 0) out.push_back(static_cast<char>(buffer));
}

void pack_block(std::span<const int64_t> block, std::string& out) {
  const Plan plan = plan_block(block);
  put_zigzag(out, plan.base);
  out.push_back(static_cast<char>(plan.width));
  out.push_back(static_cast<char>(plan.patches));
  put_packed(block, plan, out);
  if (plan.patches == 0) return;
  for (size_t i = 0; i < block.size(); ++i) {
    const uint64_t high = offset_of(block[i], plan.base) >> plan.width;
    if (high == 0) continue;
    out.push_back(static_cast<char>(i));
    put_varint(out, high);
  }
}

// `packed` has 8 readable bytes beyond its end.
void unpack_narrow(const char* packed, unsigned width, int64_t base, std::span<int64_t> block) {
  const uint64_t mask = (1ULL << width) - 1;
  size_t bit = 0;
  for (int64_t& v : block) {
    uint64_t word;
    std::memcpy(&word, packed + bit / 8, 8);
    v = static_cast<int64_t>(static_cast<uint64_t>(base) + ((word >> (bit % 8)) & mask));
    bit += width;
  }
}

void unpack_wide(const char* packed, unsigned width, int64_t base, std::span<int64_t> block) {
  const uint64_t mask = width == 64 ? ~0ULL : (1ULL << width) - 1;
  size_t bit = 0;
  for (int64_t& v : block) {
    uint64_t low, high;
    std::memcpy(&low, packed + bit / 8, 8);
    std::memcpy(&high, packed + bit / 8 + 8, 8);
    const unsigned shift = bit % 8;
    const uint64_t word = shift == 0 ? low : low >> shift | high << (64 - shift);
    v = static_cast<int64_t>(static_cast<uint64_t>(base) + (word & mask));
    bit += width;
  }
}

bool unpack_block(ByteReader& in, std::span<int64_t> block) {
  const int64_t base = in.zigzagged();
  const unsigned width = in.byte();
  const unsigned patches = in.byte();
  if (!in.ok() || width > 64) return false;
  if (width == 0) {
    std::fill(block.begin(), block.end(), base);
  } else {
    // A copy with slack, so that the loops may load whole words.
    char packed[kPackBlock * 8 + 16];
    const std::string_view bytes = in.bytes((block.size() * width + 7) / 8);
    if (!in.ok()) return false;
    std::memcpy(packed, bytes.data(), bytes.size());
    std::memset(packed + bytes.size(), 0, 16);
    if (width <= 56) {
      unpack_narrow(packed, width, base, block);
    } else {
      unpack_wide(packed, width, base, block);
    }
  }
  for (unsigned i = 0; i < patches; ++i) {
    const size_t index = in.byte();
    const uint64_t high = in.varint();
    if (!in.ok() || index >= block.size() || width >= 64) return false;
    block[index] = static_cast<int64_t>(static_cast<uint64_t>(block[index]) + (high << width));
  }
  return true;
}

}  // namespace

size_t packed_size(std::span<const int64_t> values) {
  size_t bytes = 0;
  for (size_t i = 0; i < values.size(); i += kPackBlock)
    bytes += plan_block(values.subspan(i, std::min(kPackBlock, values.size() - i))).bytes;
  return bytes;
}

void pack_ints(std::span<const int64_t> values, std::string& out) {
  for (size_t i = 0; i < values.size(); i += kPackBlock)
    pack_block(values.subspan(i, std::min(kPackBlock, values.size() - i)), out);
}

bool unpack_ints(ByteReader& in, std::span<int64_t> values) {
  for (size_t i = 0; i < values.size(); i += kPackBlock)
    if (!unpack_block(in, values.subspan(i, std::min(kPackBlock, values.size() - i)))) return false;
  return true;
}

}  // namespace vagt::tsdb
