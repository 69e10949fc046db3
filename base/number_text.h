// Numbers to text and back, shortest round trip, without a locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vagt {

// As Prometheus's APIs and exposition print a float: "1", "0.1", "1e+06" becomes "1000000", "NaN",
// "+Inf", "-Inf". Go's strconv.FormatFloat(v, 'f', -1, 64).
std::string format_float(double v);
void append_float(std::string& out, double v);
// Go's FormatFloat(v, 'g', -1, 64): exponent when it is < -4 or >= 21 (as Go's %v prints a float).
std::string format_float_g(double v);
// Go's strconv.ParseFloat: decimal, hex floats, underscores refused, "inf", "+Inf", "Infinity",
// "NaN" in any case. nullopt: not a number. Too large becomes infinity.
std::optional<double> parse_float(std::string_view text);
std::optional<int64_t> parse_int(std::string_view text);

}  // namespace vagt
