#include "template/number_literal.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/labels.h"
#include "base/number_text.h"
#include "template/parser.h"
#include "template/unicode.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

// A constant such as 2i: nothing computes with it, it only prints.
class ImaginaryNumber final : public TemplateObject {
 public:
  explicit ImaginaryNumber(double value) : value_(value) {}
  std::unique_ptr<TemplateValue> field(std::string_view) const override { return nullptr; }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override { return "complex128"; }
  std::string print() const override {
    return "(0" + std::string(std::signbit(value_) ? "" : "+") + format_go_float(value_) + "i)";
  }
  bool truthy() const override { return value_ != 0; }

 private:
  double value_;
};

Status bad(std::string_view text) { return Status::invalid("bad number syntax: " + quote(text)); }

Result<NumberLiteral> parse_character(std::string_view text) {
  std::string out;
  size_t size = 0;
  if (!unquote(text, out) || out.empty()) {
    return Status::invalid("malformed character constant: " + std::string(text));
  }
  const char32_t rune = decode_utf8(out, size);
  if (size != out.size())
    return Status::invalid("malformed character constant: " + std::string(text));
  return NumberLiteral{static_cast<int64_t>(rune), true};
}

std::optional<int64_t> parse_integer(std::string_view digits, bool negative, bool& overflow) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = static_cast<char>(digits[1] | 32);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    digits.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  const uint64_t most = negative ? uint64_t{1} << 63 : (uint64_t{1} << 63) - 1;
  overflow = error == std::errc::result_out_of_range || value > most;
  if (overflow) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

}  // namespace

Result<NumberLiteral> parse_number_literal(std::string_view text, bool character) {
  if (character) return parse_character(text);
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits.push_back(c);
  }
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  if (digits.ends_with('i')) {
    const auto imaginary = parse_float(digits.substr(0, digits.size() - 1));
    if (!imaginary) return bad(text);
    const double value = negative ? -*imaginary : *imaginary;
    return NumberLiteral{std::make_shared<ImaginaryNumber>(value), false};
  }
  bool overflow = false;
  if (const auto integer = parse_integer(digits, negative, overflow))
    return NumberLiteral{*integer, true};
  if (overflow) return Status::invalid("integer overflow: " + quote(text));
  const auto real = parse_float(digits);
  if (!real || digits.empty() || std::isnan(*real) || std::isinf(*real)) return bad(text);
  const double value = negative ? -*real : *real;
  return NumberLiteral{value, value == std::trunc(value) && std::abs(value) < 9e18};
}

}  // namespace vagt::tmpl
