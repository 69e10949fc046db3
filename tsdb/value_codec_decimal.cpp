#include <array>
#include <cmath>
#include <vector>

#include "tsdb/pack.h"
#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

constexpr int kMaxExponent = 15;
constexpr std::array<double, kMaxExponent + 1> kPow10 = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr double kMaxExact = 9007199254740992.0;  // 2^53

// The integer m with m / 10^e == v bit for bit, if there is one. Dividing two exact doubles rounds
// correctly, so a decimal that prints short always comes back.
bool scaled(double v, int exponent, int64_t& m) {
  const double power = kPow10[static_cast<size_t>(exponent)];
  const double wide = v * power;
  if (!(std::fabs(wide) < kMaxExact)) return false;
  const double rounded = std::nearbyint(wide);
  m = static_cast<int64_t>(rounded);
  return rounded / power == v && !(rounded == 0 && std::signbit(v));
}

struct Scaled {
  int exponent = 0;
  std::vector<int64_t> m;
  std::vector<uint32_t> patches;  // indices of values that are not decimal
};

bool find_exponent(std::span<const double> v, Scaled& out) {
  const size_t allowed = v.size() / 8 + 1;
  size_t odd = 0;
  for (const double each : v) {
    int64_t m;
    int exponent = out.exponent;
    while (exponent <= kMaxExponent && !scaled(each, exponent, m)) ++exponent;
    if (exponent <= kMaxExponent) {
      out.exponent = exponent;
    } else if (++odd > allowed) {
      return false;
    }
  }
  return true;
}

bool scale(std::span<const double> v, Scaled& out) {
  if (!find_exponent(v, out)) return false;
  out.m.resize(v.size());
  int64_t before = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    // A patched value repeats its neighbour: that costs the packed part least.
    if (!scaled(v[i], out.exponent, out.m[i])) {
      out.m[i] = before;
      out.patches.push_back(static_cast<uint32_t>(i));
    }
    before = out.m[i];
  }
  return out.patches.size() <= v.size() / 8 + 1;
}

// In place: n values become n - 1 differences; the first value is returned.
int64_t difference(std::vector<int64_t>& m) {
  const int64_t first = m.front();
  for (size_t i = 1; i < m.size(); ++i) m[i - 1] = wrap_sub(m[i], m[i - 1]);
  m.pop_back();
  return first;
}

}  // namespace

// exponent | order << 4, patches, `order` first values, packed rest.
bool encode_decimal(std::span<const double> v, std::string& out) {
  Scaled s;
  if (!scale(v, s)) return false;
  // Orders 0, 1 and 2 by size alone; the values stay at the best order so far.
  std::vector<int64_t> residuals = s.m;
  std::array<int64_t, 2> firsts{};
  size_t best_size = packed_size(residuals), heads_size = 0;
  size_t order = 0;
  for (size_t next = 1; next <= 2 && residuals.size() > 1; ++next) {
    firsts[next - 1] = difference(residuals);
    heads_size += varint_size(zigzag(firsts[next - 1]));
    const size_t size = packed_size(residuals) + heads_size;
    if (size >= best_size) continue;
    best_size = size;
    order = next;
  }
  for (size_t i = 0; i < order; ++i) difference(s.m);
  out.push_back(static_cast<char>(static_cast<size_t>(s.exponent) | order << 4));
  put_varint(out, s.patches.size());
  uint32_t last = 0;
  for (const uint32_t index : s.patches) {
    put_varint(out, index - last);
    put_bits64(out, v[index]);
    last = index;
  }
  for (size_t i = 0; i < order; ++i) put_zigzag(out, firsts[i]);
  pack_ints(s.m, out);
  return true;
}

bool decode_decimal(ByteReader& in, std::span<double> v) {
  const uint8_t tag = in.byte();
  const size_t exponent = tag & 15, order = tag >> 4, n = v.size();
  const uint64_t patches = in.varint();
  if (!in.ok() || order > 2 || n < order || patches > n) return false;
  std::vector<std::pair<size_t, double>> odd(patches);
  size_t at = 0;
  for (auto& [index, value] : odd) {
    at += in.varint();
    if (at >= n) return false;
    index = at;
    value = in.bits64();
  }
  std::array<int64_t, 2> heads{};
  for (size_t i = 0; i < order; ++i) heads[i] = in.zigzagged();
  std::vector<int64_t> m(n);
  if (!unpack_ints(in, std::span(m).subspan(order))) return false;
  // Undo the differences, innermost first.
  for (size_t level = order; level > 0; --level) {
    uint64_t sum = static_cast<uint64_t>(heads[level - 1]);
    m[level - 1] = heads[level - 1];
    for (size_t i = level; i < n; ++i) {
      sum += static_cast<uint64_t>(m[i]);
      m[i] = static_cast<int64_t>(sum);
    }
  }
  const double power = kPow10[exponent];
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<double>(m[i]) / power;
  for (const auto& [index, value] : odd) v[index] = value;
  return in.ok();
}

}  // namespace vagt::tsdb
