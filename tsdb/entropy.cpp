#include "tsdb/entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace vagt::tsdb {
namespace {

// A value's distance from the middle one, zigzag, is a token and some raw bits: the small distances
// are tokens of their own, the others share one with those of the same size and next two bits.
constexpr uint64_t kDirect = 16;
constexpr size_t kTokens = kDirect + (64 - 4) * 4;
constexpr unsigned kScaleBits = 12;  // frequencies are parts of 4096
constexpr uint32_t kScale = 1u << kScaleBits;
constexpr size_t kSlack = 16;        // so that loops may load whole words at the end
constexpr uint32_t kLow = 1u << 16;  // a state is at least that; below, 16 bits are taken in

struct Token {
  uint32_t number;
  uint32_t bits;  // raw bits that follow
};

Token token_of(uint64_t u) {
  if (u < kDirect) return {static_cast<uint32_t>(u), 0};
  const auto width = static_cast<uint32_t>(std::bit_width(u));
  const auto next = static_cast<uint32_t>(u >> (width - 3)) & 3;
  return {static_cast<uint32_t>(kDirect) + (width - 5) * 4 + next, width - 3};
}

constexpr uint32_t bits_of(uint32_t token) {
  return token < kDirect ? 0 : (token - static_cast<uint32_t>(kDirect)) / 4 + 2;
}

constexpr uint64_t base_of(uint32_t token) {
  if (token < kDirect) return token;
  const uint64_t next = (token - kDirect) & 3;
  return (4 | next) << bits_of(token);
}

using Counts = std::array<uint32_t, kTokens>;

int64_t middle(std::span<const int64_t> values) {
  std::vector<int64_t> sorted(values.begin(), values.end());
  const auto half = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), half, sorted.end());
  return *half;
}

uint64_t distance(int64_t value, int64_t center) { return zigzag(wrap_sub(value, center)); }

Counts count_tokens(std::span<const int64_t> values, int64_t center) {
  Counts counts{};
  for (const int64_t v : values) ++counts[token_of(distance(v, center)).number];
  return counts;
}

// Parts of kScale, at least one for each token that occurs.
Counts frequencies(const Counts& counts, size_t n) {
  Counts f{};
  int64_t left = kScale;
  for (size_t i = 0; i < kTokens; ++i) {
    if (counts[i] == 0) continue;
    f[i] = static_cast<uint32_t>(std::max<uint64_t>(1, (uint64_t{counts[i]} * kScale + n / 2) / n));
    left -= f[i];
  }
  while (left != 0) {  // rounding: the commonest notice it least
    uint32_t& most = *std::max_element(f.begin(), f.end());
    const int64_t step = left > 0 ? left : std::max<int64_t>(left, -int64_t{most / 2});
    most = static_cast<uint32_t>(most + step);
    left -= step;
  }
  return f;
}

// Frequencies up to the last that occurs; after a 0, how many more zeros follow.
void put_frequencies(const Counts& f, std::string& out) {
  size_t used = kTokens;
  while (f[used - 1] == 0) --used;
  put_varint(out, used);
  for (size_t i = 0; i < used; ++i) {
    put_varint(out, f[i]);
    if (f[i] != 0) continue;
    size_t zeros = 0;
    while (f[i + 1 + zeros] == 0) ++zeros;
    put_varint(out, zeros);
    i += zeros;
  }
}

bool read_frequencies(ByteReader& in, Counts& f) {
  const uint64_t used = in.varint();
  if (!in.ok() || used == 0 || used > kTokens) return false;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < used; ++i) {
    const uint64_t each = in.varint();
    if (!in.ok() || each > kScale) return false;
    f[i] = static_cast<uint32_t>(each);
    sum += each;
    if (each != 0) continue;
    const uint64_t zeros = in.varint();
    if (!in.ok() || zeros >= used - i) return false;
    i += zeros;
  }
  return sum == kScale;
}

void put_raw_bits(std::span<const int64_t> values, int64_t center, std::string& out) {
  unsigned __int128 buffer = 0;
  unsigned filled = 0;
  for (const int64_t v : values) {
    const uint64_t u = distance(v, center);
    const uint32_t bits = token_of(u).bits;
    if (bits == 0) continue;
    buffer |= static_cast<unsigned __int128>(u & ((1ULL << bits) - 1)) << filled;
    filled += bits;
    for (; filled >= 8; filled -= 8, buffer >>= 8) out.push_back(static_cast<char>(buffer));
  }
  if (filled > 0) out.push_back(static_cast<char>(buffer));
}

// Two states take turns, so that a decoder works on both at once. The last value goes in first.
std::string code_tokens(std::span<const int64_t> values, int64_t center, const Counts& f) {
  std::array<uint32_t, kTokens> start{};
  for (size_t i = 1; i < kTokens; ++i) start[i] = start[i - 1] + f[i - 1];
  std::array<uint32_t, 2> states = {kLow, kLow};
  std::vector<uint16_t> words;
  words.reserve(values.size() / 2 + 4);
  for (size_t i = values.size(); i-- > 0;) {
    uint32_t& state = states[i & 1];
    const uint32_t token = token_of(distance(values[i], center)).number;
    if (state >= uint64_t{f[token]} << (32 - kScaleBits)) {
      words.push_back(static_cast<uint16_t>(state));
      state >>= 16;
    }
    state = (state / f[token] << kScaleBits) + state % f[token] + start[token];
  }
  std::string out;
  for (const uint32_t state : states) put_big_endian(out, state);
  for (size_t i = words.size(); i-- > 0;) put_big_endian(out, words[i]);
  return out;
}

constexpr std::array<uint64_t, kTokens> kBases = [] {
  std::array<uint64_t, kTokens> bases{};
  for (uint32_t token = 0; token < kTokens; ++token) bases[token] = base_of(token);
  return bases;
}();
constexpr std::array<uint8_t, kTokens> kWidths = [] {
  std::array<uint8_t, kTokens> widths{};
  for (uint32_t token = 0; token < kTokens; ++token)
    widths[token] = static_cast<uint8_t>(bits_of(token));
  return widths;
}();

// Cells of the decoder's table: token, frequency - 1, place in the token's range.
static_assert(kTokens <= 256 && kScaleBits <= 12);
constexpr uint32_t cell_of(uint32_t token, uint32_t frequency, uint32_t offset) {
  return token << 24 | (frequency - 1) << 12 | offset;
}

// Two cells a store; what runs over is the next token's, or the cell of slack at the end.
void make_table(const Counts& f, std::vector<uint32_t>& table) {
  table.resize(kScale + 1);
  char* at = reinterpret_cast<char*>(table.data());
  for (uint32_t token = 0; token < kTokens; ++token) {
    const uint32_t n = f[token];
    if (n == 0) continue;
    const uint64_t first = cell_of(token, n, 0);
    uint64_t pair = std::endian::native == std::endian::little ? first | (first + 1) << 32
                                                               : first << 32 | (first + 1);
    for (uint32_t i = 0; i < n; i += 2, pair += 2ULL << 32 | 2) std::memcpy(at + i * 4, &pair, 8);
    at += n * 4;
  }
}

}  // namespace

size_t entropy_size(std::span<const int64_t> values) {
  if (values.empty()) return 0;
  const Counts counts = count_tokens(values, middle(values));
  const double n = static_cast<double>(values.size());
  double bits = 0;
  size_t table = 0;
  for (uint32_t token = 0; token < kTokens; ++token) {
    if (counts[token] == 0) continue;
    const double count = counts[token];
    bits += count * (std::log2(n / count) + bits_of(token));
    table += count * kScale / n < 128 ? 1 : 2;
  }
  return static_cast<size_t>(bits / 8) + table + 16;
}

void entropy_code(std::span<const int64_t> values, std::string& out) {
  if (values.empty()) return;
  const int64_t center = middle(values);
  const Counts f = frequencies(count_tokens(values, center), values.size());
  put_zigzag(out, center);
  put_frequencies(f, out);
  put_sized(out, code_tokens(values, center, f));
  put_raw_bits(values, center, out);
}

bool entropy_decode(ByteReader& in, std::span<int64_t> values) {
  if (values.empty()) return true;
  EntropyReader reader;
  if (!reader.open(in) || !reader.read(values) || !reader.at_end()) return false;
  in.bytes(reader.taken());
  return in.ok();
}

bool EntropyReader::open(ByteReader in) {
  const size_t before = in.left();
  center_ = in.zigzagged();
  Counts f{};
  if (!read_frequencies(in, f)) return false;
  make_table(f, table_);
  const uint64_t words = in.varint();
  if (!in.ok() || words > in.left()) return false;
  head_ = before - in.left();
  words_end_ = words;
  raw_end_ = in.left();
  bytes_.assign(in.bytes(in.left()));
  bytes_.append(kSlack, '\0');
  point_ = {};
  if (words < 8) return false;
  ByteReader start(bytes_);
  for (uint32_t& state : point_.states) state = start.big_endian<uint32_t>();
  point_.word = 8;
  return true;
}

bool EntropyReader::read(std::span<int64_t> values) {
  const char* const bytes = bytes_.data();
  const char* const raw = bytes + words_end_;
  const uint64_t raw_bits = (raw_end_ - words_end_) * 8;
  const uint32_t* const table = table_.data();
  std::array<uint32_t, 2> states = point_.states;
  size_t word = point_.word;
  uint64_t bit = point_.bit;
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t state = states[0];
    const uint32_t cell = table[state & (kScale - 1)];
    state = ((cell >> 12 & 0xfff) + 1) * (state >> kScaleBits) + (cell & 0xfff);
    // Taking a word in or not is a coin toss to the branch predictor: both are computed.
    uint16_t next;
    std::memcpy(&next, bytes + word, 2);
    const uint32_t wider = state << 16 | static_cast<uint16_t>(next << 8 | next >> 8);
    const uint32_t takes = state < kLow ? 1 : 0, mask = -takes;
    states[0] = states[1];
    states[1] = (wider & mask) | (state & ~mask);
    word += size_t{takes} * 2;
    const unsigned width = kWidths[cell >> 24], shift = bit % 8;
    uint64_t chunk;
    std::memcpy(&chunk, raw + bit / 8, 8);
    chunk >>= shift;
    if (width + shift > 64) [[unlikely]]
      chunk |= static_cast<uint64_t>(static_cast<uint8_t>(raw[bit / 8 + 8])) << (64 - shift);
    bit += width;
    if (word > words_end_ || bit > raw_bits) [[unlikely]]
      return false;
    const uint64_t u = kBases[cell >> 24] + (chunk & ((1ULL << width) - 1));
    values[i] = wrap_add(center_, unzigzag(u));
  }
  if (values.size() % 2 != 0) std::swap(states[0], states[1]);
  point_ = {states, static_cast<uint32_t>(word), bit};
  return true;
}

bool EntropyReader::at_end() const {
  return point_.word == words_end_ && point_.states[0] == kLow && point_.states[1] == kLow;
}

}  // namespace vagt::tsdb
