#include "query/operators/numbers.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace vagt::query {

double go_log(double v) {
  if (!(v > 0) || v >= std::numeric_limits<double>::min()) return std::log(v);
  // On amd64 Go reads a subnormal number as if it were 2^-1023 times its digits after "1.".
  constexpr uint64_t kExponentOfOne = 0x3ff0000000000000ULL;
  return std::log(std::bit_cast<double>(std::bit_cast<uint64_t>(v) | kExponentOfOne)) -
         1023 * M_LN2;
}

double go_log2(double v) {
  if (!(v > 0) || std::isinf(v)) return std::log2(v);
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  if (fraction == 0.5) return exponent - 1;  // powers of two come out whole
  return std::log(fraction) * M_LOG2E + exponent;
}

// The whole part of the exponent by squaring, the rest by exp and log; binary exponents are kept
// apart, so that nothing in between grows too large.
double go_pow(double base, double exponent) {
  constexpr int64_t kFarOut = 1 << 12;
  const bool plain = std::isfinite(base) && std::isfinite(exponent) && base != 0 && exponent != 0;
  if (!plain || base == 1 || exponent == 1) return std::pow(base, exponent);
  if (exponent == 0.5) return std::sqrt(base);
  if (exponent == -0.5) return 1 / std::sqrt(base);
  double whole = 0;
  double rest = std::modf(std::abs(exponent), &whole);
  if ((rest != 0 && base < 0) || whole >= 0x1p63) return std::pow(base, exponent);
  double result = 1;
  if (rest != 0) {
    if (rest > 0.5) {
      rest -= 1;
      whole += 1;
    }
    result = std::exp(rest * go_log(base));
  }
  int first = 0;
  double factor = std::frexp(base, &first);
  int64_t power = first, shift = 0;
  for (auto left = static_cast<int64_t>(whole); left != 0; left >>= 1U) {
    if (power < -kFarOut || power > kFarOut) {
      // The rest of the squarings cannot bring it back.
      shift += power;
      break;
    }
    if ((left & 1) != 0) {
      result *= factor;
      shift += power;
    }
    factor *= factor;
    power *= 2;
    if (std::abs(factor) < 0.5) {
      factor += factor;
      --power;
    }
  }
  if (exponent < 0) {
    result = 1 / result;
    shift = -shift;
  }
  return std::ldexp(result, static_cast<int>(shift));
}

double quantile_of_sorted(double q, std::span<const double> sorted) {
  if (sorted.empty() || std::isnan(q)) return std::nan("");
  if (q < 0) return -HUGE_VAL;
  if (q > 1) return HUGE_VAL;
  const double n = static_cast<double>(sorted.size());
  const double rank = q * (n - 1);
  const double lower = std::max(0.0, std::floor(rank));
  const double upper = std::min(n - 1, lower + 1);
  const double weight = rank - std::floor(rank);
  return sorted[static_cast<size_t>(lower)] * (1 - weight) +
         sorted[static_cast<size_t>(upper)] * weight;
}

}  // namespace vagt::query
