#include "exposition/number.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "base/number_text.h"

namespace vagt::exposition {
namespace {

constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr uint64_t kExactIntegers = 1ULL << 53;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

const char* read_digits(const char* at, const char* end, uint64_t& mantissa) {
  while (at != end && is_digit(*at)) mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
  return at;
}

// "e-05"; null: no digits, or more than a double can use.
const char* read_exponent(const char* at, const char* end, int& exponent) {
  bool negative = false;
  if (at != end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  uint64_t digits = 0;
  const char* behind = read_digits(at, end, digits);
  if (behind == at || behind - at > 3) return nullptr;
  exponent += negative ? -static_cast<int>(digits) : static_cast<int>(digits);
  return behind;
}

}  // namespace

const char* read_simple_number(const char* at, const char* end, double& value) {
  bool negative = false;
  if (at != end && *at == '-') negative = true, ++at;
  const char* first = at;
  uint64_t mantissa = 0;
  at = read_digits(at, end, mantissa);
  auto digits = at - first;
  int exponent = 0;
  if (at != end && *at == '.') {
    const char* fraction = at + 1;
    at = read_digits(fraction, end, mantissa);
    exponent = static_cast<int>(fraction - at);
    digits += at - fraction;
  }
  if (digits == 0 || digits > 19 || mantissa > kExactIntegers) return nullptr;
  if (at != end && (*at == 'e' || *at == 'E')) {
    at = read_exponent(at + 1, end, exponent);
    if (at == nullptr) return nullptr;
  }
  auto result = static_cast<double>(mantissa);
  if (exponent != 0) {
    if (exponent < -22 || exponent > 22) return nullptr;
    result = exponent < 0 ? result / kPowersOfTen[static_cast<size_t>(-exponent)]
                          : result * kPowersOfTen[static_cast<size_t>(exponent)];
  }
  value = negative ? -result : result;
  return at;
}

FloatResult read_float(std::string_view word) {
  if (word.find_first_of("pP_") != std::string_view::npos) return {0, FloatFault::Character};
  // Without 'p' a hex float is incomplete.
  if (word.find_first_of("xX") != std::string_view::npos) return {0, FloatFault::Syntax};
  const std::optional<double> value = parse_float(word);
  if (!value) return {0, FloatFault::Syntax};
  if (std::isinf(*value) && word.find_first_of("iI") == std::string_view::npos) {
    return {0, FloatFault::Range};
  }
  return {*value, FloatFault::None};
}

}  // namespace vagt::exposition
