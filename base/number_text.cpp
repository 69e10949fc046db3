#include "base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace vagt {
namespace {

bool append_special(std::string& out, double v) {
  if (std::isnan(v)) {
    out += "NaN";
  } else if (std::isinf(v)) {
    out += v > 0 ? "+Inf" : "-Inf";
  } else {
    return false;
  }
  return true;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (lower(text[i]) != lower_case[i]) return false;
  return true;
}

std::optional<double> parse_digits(std::string_view digits, bool negative) {
  auto format = std::chars_format::general;
  if (digits.size() > 2 && digits[0] == '0' && lower(digits[1]) == 'x') {
    // Go requires the binary exponent of a hex float.
    if (digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
    digits.remove_prefix(2);
    format = std::chars_format::hex;
  }
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  double v = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), v, format);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves v alone: strtod tells an overflow (infinity) from an underflow (0 or
    // subnormal).
    const std::string text = (format == std::chars_format::hex ? "0x" : "") + std::string(digits);
    v = std::strtod(text.c_str(), nullptr);
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return negative ? -v : v;
}

// Beyond the whole numbers a double holds, to_chars writes out the double's exact value; Go writes
// the shortest digits that read back and fills up with zeros.
void append_large(std::string& out, double v) {
  char buffer[32];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  if (error != std::errc()) return;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  size_t digits = 0;
  for (const char c : text.substr(0, e)) {
    if (c == '.') continue;
    out += c;
    digits += c != '-';
  }
  int exponent = 0;
  std::from_chars(buffer + e + 2, end, exponent);  // past "e+"
  out.append(static_cast<size_t>(exponent) + 1 - digits, '0');
}

}  // namespace

void append_float(std::string& out, double v) {
  if (append_special(out, v)) return;
  if (std::fabs(v) >= 9007199254740992.0) return append_large(out, v);
  char buffer[400];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed);
  out.append(buffer, error == std::errc() ? end : buffer);
}

std::string format_float(double v) {
  std::string out;
  append_float(out, v);
  return out;
}

std::string format_float_g(double v) {
  std::string out;
  if (append_special(out, v)) return out;
  const double magnitude = std::fabs(v);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e21)) return format_float(v);
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  return error == std::errc() ? std::string(buffer, end) : std::string();
}

std::optional<double> parse_float(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  const char first = lower(text[0]);
  if (first == 'i') {
    if (!equals_ignoring_case(text, "inf") && !equals_ignoring_case(text, "infinity"))
      return std::nullopt;
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  if (first == 'n') {
    if (!equals_ignoring_case(text, "nan")) return std::nullopt;
    return std::numeric_limits<double>::quiet_NaN();
  }
  return parse_digits(text, negative);
}

std::optional<int64_t> parse_int(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

}  // namespace vagt
