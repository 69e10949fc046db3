// The numbers of a metrics page.
#pragma once

#include <optional>
#include <string_view>

namespace vagt::exposition {

// Reads a plain decimal number at `at` that one multiplication or division makes exact (at most 19
// digits, below 2^53, a power of ten within 22): nearly every value on a page. Returns the first
// byte behind it; null: not of this kind, ask read_float().
const char* read_simple_number(const char* at, const char* end, double& value);

enum class FloatFault : unsigned char { None, Character, Syntax, Range };
struct FloatResult {
  double value = 0;
  FloatFault fault = FloatFault::None;
};
// The whole of `word` as Prometheus reads it: Go's ParseFloat less '_' and hex floats; too large is
// a fault.
FloatResult read_float(std::string_view word);

}  // namespace vagt::exposition
