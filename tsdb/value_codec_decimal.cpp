#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <vector>

#include "tsdb/entropy.h"
#include "tsdb/pack.h"
#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

constexpr std::array<double, kMaxDecimalPlaces + 1> kPow10 = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr double kMaxExact = 9007199254740992.0;  // 2^53

// Dividing two exact doubles rounds correctly, so a decimal that prints short always comes back.
inline bool scaled(double v, int exponent, int64_t& m) {
  const double power = kPow10[static_cast<size_t>(exponent)];
  const double wide = v * power;
  if (!(std::fabs(wide) < kMaxExact)) return false;
  // Adding 1.5 * 2^52 leaves no room for a fraction: rounding without a call.
  constexpr double kNoFraction = 6755399441055744.0;
  const double rounded = std::fabs(wide) < 2251799813685248.0 ? wide + kNoFraction - kNoFraction
                                                              : std::nearbyint(wide);
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
    while (exponent <= kMaxDecimalPlaces && !scaled(each, exponent, m)) ++exponent;
    if (exponent <= kMaxDecimalPlaces) {
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

// Differences, patches and integers: what follows a codec's own head. The head tells `order`.
class Body {
 public:
  Body(Scaled scaled, IntCoding coding) : s_(std::move(scaled)), coding_(coding) {
    const auto size_of = coding == IntCoding::Packed ? packed_size : entropy_size;
    // Orders 0, 1 and 2 by size alone.
    std::vector<int64_t> residuals = s_.m;
    size_t best_size = size_of(residuals), heads_size = 0;
    for (size_t next = 1; next <= 2 && residuals.size() > 1; ++next) {
      firsts_[next - 1] = difference(residuals);
      heads_size += varint_size(zigzag(firsts_[next - 1]));
      const size_t size = size_of(residuals) + heads_size;
      if (size >= best_size) continue;
      best_size = size;
      order_ = next;
    }
    for (size_t i = 0; i < order_; ++i) difference(s_.m);
  }
  size_t order() const { return order_; }

  void write(std::span<const double> v, std::string& out) const {
    put_varint(out, s_.patches.size());
    uint32_t last = 0;
    for (const uint32_t index : s_.patches) {
      put_varint(out, index - last);
      put_bits64(out, v[index]);
      last = index;
    }
    for (size_t i = 0; i < order_; ++i) put_zigzag(out, firsts_[i]);
    if (coding_ == IntCoding::Packed) {
      pack_ints(s_.m, out);
    } else {
      entropy_code(s_.m, out);
    }
  }

 private:
  Scaled s_;
  const IntCoding coding_;
  std::array<int64_t, 2> firsts_{};
  size_t order_ = 0;
};

// Undoes the differences, innermost first.
void sum_up(std::span<const int64_t> heads, std::span<int64_t> m) {
  for (size_t level = heads.size(); level > 0; --level) {
    uint64_t sum = static_cast<uint64_t>(heads[level - 1]);
    m[level - 1] = heads[level - 1];
    for (size_t i = level; i < m.size(); ++i) {
      sum += static_cast<uint64_t>(m[i]);
      m[i] = static_cast<int64_t>(sum);
    }
  }
}

struct BodyHead {
  std::vector<std::pair<size_t, double>> patches;
  std::array<int64_t, 2> firsts{};
};

bool read_head(ByteReader& in, size_t order, size_t n, BodyHead& head) {
  const uint64_t patches = in.varint();
  if (!in.ok() || order > 2 || n < order || patches > n) return false;
  head.patches.resize(patches);
  size_t at = 0;
  for (auto& [index, value] : head.patches) {
    at += in.varint();
    if (at >= n) return false;
    index = at;
    value = in.bits64();
  }
  for (size_t i = 0; i < order; ++i) head.firsts[i] = in.zigzagged();
  return in.ok();
}

// `value_of` makes a double of an integer.
template <class F>
bool read_body(ByteReader& in, IntCoding coding, size_t order, F value_of, std::span<double> v) {
  const size_t n = v.size();
  BodyHead head;
  if (!read_head(in, order, n, head)) return false;
  std::vector<int64_t> m(n);
  const std::span<int64_t> rest = std::span(m).subspan(order);
  if (coding == IntCoding::Packed ? !unpack_ints(in, rest) : !entropy_decode(in, rest))
    return false;
  sum_up(std::span(head.firsts).first(order), m);
  for (size_t i = 0; i < n; ++i) v[i] = value_of(m[i]);
  for (const auto& [index, value] : head.patches) v[index] = value;
  return in.ok();
}

// Sums differences while they come, so that a reader may begin in the middle.
class RunningSum {
 public:
  RunningSum(size_t order, const std::array<int64_t, 2>& firsts) : order_(order) {
    // sums_[0] is the last value, sums_[1] the last difference.
    sums_[0] = order == 2 ? wrap_add(firsts[0], firsts[1]) : firsts[0];
    sums_[1] = firsts[1];
  }
  const std::array<int64_t, 2>& sums() const { return sums_; }
  void set(const std::array<int64_t, 2>& sums) { sums_ = sums; }
  void apply(std::span<int64_t> m) {
    if (order_ == 0) return;
    for (int64_t& each : m) {
      if (order_ == 2) each = sums_[1] = wrap_add(sums_[1], each);
      each = sums_[0] = wrap_add(sums_[0], each);
    }
  }

 private:
  const size_t order_;
  std::array<int64_t, 2> sums_{};
};

ChunkMark mark_of(const EntropyReader& reader, const RunningSum& sum) {
  const EntropyReader::Point& at = reader.point();
  return {at.states, at.word, at.bit, sum.sums()};
}

// Mark k stands before integer k * kMarkEvery of the entropy-coded ones.
template <class F>
bool read_body_between(ByteReader& in, size_t order, F value_of, size_t n, size_t begin,
                       ChunkMarks& marks, std::span<double> v) {
  BodyHead head;
  if (!read_head(in, order, n, head)) return false;
  const size_t end = begin + v.size();
  for (size_t i = begin; i < std::min(order, end); ++i)
    v[i - begin] = value_of(i == 0 ? head.firsts[0] : wrap_add(head.firsts[0], head.firsts[1]));
  RunningSum sum(order, head.firsts);
  thread_local EntropyReader reader;  // for its memory
  if (end > order && !reader.open(in)) return false;
  size_t block = 0;
  if (begin > order && !marks.empty()) {
    block = std::min((begin - order) / kMarkEvery, marks.size() - 1);
    const ChunkMark& mark = marks[block];
    reader.seek({mark.states, mark.word, mark.bit});
    sum.set(mark.sums);
  }
  std::array<int64_t, kMarkEvery> buffer;
  for (size_t at = block * kMarkEvery + order; at < end; at += kMarkEvery, ++block) {
    if (block == marks.size()) marks.push_back(mark_of(reader, sum));
    const std::span<int64_t> m = std::span(buffer).first(std::min(kMarkEvery, n - at));
    if (!reader.read(m)) return false;
    sum.apply(m);
    const size_t from = std::max(at, begin), until = std::min(at + m.size(), end);
    for (size_t i = from; i < until; ++i) v[i - begin] = value_of(m[i - at]);
    if (at + m.size() == n && !reader.at_end()) return false;
  }
  for (const auto& [index, value] : head.patches)
    if (index >= begin && index < end) v[index - begin] = value;
  return true;
}

// Where the lowest set bit and the highest of a value are, as powers of two.
struct BitSpan {
  int low, high;
};
BitSpan bits_of(double v) {
  int exponent = 0;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(v), &exponent), 53));
  return {exponent - 53 + std::countr_zero(mantissa), exponent};
}

constexpr int kMaxPower = 900;

// m * 2^exponent == v, with room for two orders of differences.
bool scale_binary(std::span<const double> v, Scaled& out) {
  const auto odd = [](double each) {
    return !std::isfinite(each) || (each == 0 && std::signbit(each));
  };
  int low = INT_MAX, high = INT_MIN;
  for (const double each : v) {
    if (odd(each) || each == 0) continue;
    const BitSpan bits = bits_of(each);
    low = std::min(low, bits.low);
    high = std::max(high, bits.high);
  }
  if (low > high || low < -kMaxPower || high > kMaxPower || high - low > 60) return false;
  out.exponent = low;
  out.m.resize(v.size());
  int64_t before = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (odd(v[i])) {
      out.patches.push_back(static_cast<uint32_t>(i));
    } else {
      before = static_cast<int64_t>(std::ldexp(v[i], -low));
    }
    out.m[i] = before;
  }
  return out.patches.size() <= v.size() / 8 + 1;
}

}  // namespace

bool scaled_decimal(double v, int places, int64_t& m) { return scaled(v, places, m); }
double decimal_power(int places) { return kPow10[static_cast<size_t>(places)]; }

// exponent | order << 4, then the body.
bool encode_decimal(std::span<const double> v, IntCoding coding, std::string& out) {
  Scaled s;
  if (!scale(v, s)) return false;
  const auto exponent = static_cast<size_t>(s.exponent);
  const Body body(std::move(s), coding);
  out.push_back(static_cast<char>(exponent | body.order() << 4));
  body.write(v, out);
  return true;
}

bool decode_decimal(ByteReader& in, IntCoding coding, std::span<double> v) {
  const uint8_t tag = in.byte();
  const double power = kPow10[tag & 15];
  return read_body(
      in, coding, tag >> 4, [power](int64_t m) { return static_cast<double>(m) / power; }, v);
}

bool decode_decimal_between(ByteReader& in, size_t n, size_t begin, ChunkMarks& marks,
                            std::span<double> v) {
  const uint8_t tag = in.byte();
  const double power = kPow10[tag & 15];
  return read_body_between(
      in, tag >> 4, [power](int64_t m) { return static_cast<double>(m) / power; }, n, begin, marks,
      v);
}

// order, exponent, then the body.
bool encode_binary(std::span<const double> v, std::string& out) {
  Scaled s;
  if (!scale_binary(v, s)) return false;
  const int exponent = s.exponent;
  const Body body(std::move(s), IntCoding::Entropy);
  out.push_back(static_cast<char>(body.order()));
  put_zigzag(out, exponent);
  body.write(v, out);
  return true;
}

bool decode_binary(ByteReader& in, std::span<double> v) {
  const size_t order = in.byte();
  const int64_t exponent = in.zigzagged();
  if (!in.ok() || exponent < -kMaxPower || exponent > kMaxPower) return false;
  const double power = std::ldexp(1.0, static_cast<int>(exponent));
  return read_body(
      in, IntCoding::Entropy, order, [power](int64_t m) { return static_cast<double>(m) * power; },
      v);
}

bool decode_binary_between(ByteReader& in, size_t n, size_t begin, ChunkMarks& marks,
                           std::span<double> v) {
  const size_t order = in.byte();
  const int64_t exponent = in.zigzagged();
  if (!in.ok() || exponent < -kMaxPower || exponent > kMaxPower) return false;
  const double power = std::ldexp(1.0, static_cast<int>(exponent));
  return read_body_between(
      in, order, [power](int64_t m) { return static_cast<double>(m) * power; }, n, begin, marks, v);
}

}  // namespace vagt::tsdb
