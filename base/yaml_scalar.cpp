// Typed reading of scalars, with go-yaml v2's rules and its words for what does not fit.
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "base/yaml.h"

namespace vagt::base {
namespace {

std::optional<bool> bool_of(std::string_view text) {
  constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                      "True", "TRUE", "on",  "On",  "ON"};
  constexpr std::array<std::string_view, 11> kFalse = {
      "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  for (const std::string_view word : kTrue)
    if (text == word) return true;
  for (const std::string_view word : kFalse)
    if (text == word) return false;
  return std::nullopt;
}

struct Integer {
  bool negative;
  uint64_t magnitude;
};

// Go's ParseInt with base 0 after dropping underscores: 0x, 0o, 0b and a leading 0 for octal.
std::optional<Integer> integer_of(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  std::string_view rest = digits;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  int base = 10;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) base = 16;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'o' || rest[1] == 'O')) base = 8;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'b' || rest[1] == 'B')) base = 2;
  if (base != 10) {
    rest.remove_prefix(2);
  } else if (rest.size() > 1 && rest[0] == '0') {
    base = 8;
    rest.remove_prefix(1);
  }
  if (rest.empty() || rest[0] == '-' || rest[0] == '+') return std::nullopt;
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, base);
  if (error != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return Integer{negative, magnitude};
}

std::optional<double> special_float(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == ".nan" || text == ".NaN" || text == ".NAN")
    return std::numeric_limits<double>::quiet_NaN();
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".Inf" || text == ".INF") return negative ? -kInfinity : kInfinity;
  return std::nullopt;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
std::optional<double> float_of(std::string_view text) {
  if (const auto special = special_float(text)) return special;
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  return parse_float(text);
}

std::string_view tag_of(const YamlNode& node) {
  switch (node.kind()) {
    case YamlNode::Kind::Null:
      return "!!null";
    case YamlNode::Kind::Sequence:
      return "!!seq";
    case YamlNode::Kind::Map:
      return "!!map";
    case YamlNode::Kind::Scalar:
      break;
  }
  if (node.quoted()) return "!!str";
  if (bool_of(node.scalar())) return "!!bool";
  if (integer_of(node.scalar())) return "!!int";
  if (float_of(node.scalar())) return "!!float";
  return "!!str";
}

// "line 3: cannot unmarshal !!str `abc` into int", as go-yaml has it.
Status misfit(const YamlNode& node, std::string_view go_type) {
  std::string value;
  if (node.is_scalar()) {
    const std::string& text = node.scalar();
    value = text.size() > 10 ? " `" + text.substr(0, 7) + "...`" : " `" + text + "`";
  }
  return node.error(fmt::format("line {}: cannot unmarshal {}{} into {}", node.line(), tag_of(node),
                                value, go_type));
}

uint64_t unit_bytes(std::string_view unit) {
  constexpr std::string_view kPrefixes = "KMGTPE";
  if (unit == "B") return 1;
  if (unit.size() < 2 || unit.size() > 3 || unit.back() != 'B') return 0;
  if (unit.size() == 3 && unit[1] != 'i') return 0;
  const size_t power = kPrefixes.find(unit[0]);
  return power == std::string_view::npos ? 0 : uint64_t{1} << (10 * (power + 1));
}

Result<uint64_t> bytes_of(std::string_view text) {
  if (text == "0") return uint64_t{0};
  double total = 0;
  std::string_view rest = text;
  if (rest.empty()) return Status::invalid("units: invalid ");
  while (!rest.empty()) {
    const size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, number);
    if (digits == 0 || error != std::errc() || end != rest.data() + digits)
      return Status::invalid(fmt::format("units: invalid {}", text));
    rest.remove_prefix(digits);
    const size_t letters = std::min(rest.find_first_of("0123456789."), rest.size());
    const uint64_t factor = unit_bytes(rest.substr(0, letters));
    if (factor == 0)
      return Status::invalid(
          fmt::format("units: unknown unit {} in {}", rest.substr(0, letters), text));
    total += number * static_cast<double>(factor);
    rest.remove_prefix(letters);
  }
  if (total >= 9.2e18) return Status::invalid(fmt::format("units: {} is out of range", text));
  return static_cast<uint64_t>(total);
}

}  // namespace

Result<std::string> YamlNode::as_string() const {
  if (is_scalar()) return scalar_;
  if (is_null()) return std::string();
  return misfit(*this, "string");
}

Result<bool> YamlNode::as_bool() const {
  if (is_null()) return false;
  if (is_scalar() && !quoted_)
    if (const auto value = bool_of(scalar_)) return *value;
  return misfit(*this, "bool");
}

Result<int64_t> YamlNode::as_int() const {
  if (is_null()) return int64_t{0};
  if (!is_scalar() || quoted_) return misfit(*this, "int");
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (const auto value = integer_of(scalar_)) {
    if (value->magnitude > kMax + (value->negative ? 1 : 0)) return misfit(*this, "int");
    return static_cast<int64_t>(value->negative ? ~value->magnitude + 1 : value->magnitude);
  }
  // go-yaml takes 1e3 as the integer 1000.
  if (const auto value = float_of(scalar_); value && std::fabs(*value) < 9.2e18)
    return static_cast<int64_t>(*value);
  return misfit(*this, "int");
}

Result<double> YamlNode::as_double() const {
  if (is_null()) return 0.0;
  if (!is_scalar() || quoted_) return misfit(*this, "float64");
  if (const auto value = integer_of(scalar_)) {
    const auto magnitude = static_cast<double>(value->magnitude);
    return value->negative ? -magnitude : magnitude;
  }
  if (const auto value = float_of(scalar_)) return *value;
  return misfit(*this, "float64");
}

Result<Duration> YamlNode::as_duration() const {
  if (is_null()) return Duration(0);
  if (!is_scalar()) return misfit(*this, "string");
  return parse_duration(scalar_).at(where());
}

Result<uint64_t> YamlNode::as_bytes() const {
  if (is_null()) return uint64_t{0};
  if (!is_scalar()) return misfit(*this, "string");
  return bytes_of(scalar_).at(where());
}

}  // namespace vagt::base
