// fmt.Sprintf as Go has it: verbs, flags, width, precision, argument indexes and the complaints
// inside the output.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/labels.h"
#include "base/number_text.h"
#include "template/go_time.h"
#include "template/unicode.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

using std::chrono::nanoseconds;

constexpr int kMaxWidth = 10'000;  // wider is refused: Go allows a million

struct Spec {
  bool minus = false, plus = false, sharp = false, space = false, zero = false;
  std::optional<int> width, precision;
  char32_t verb = 'v';
};

std::string verb_text(char32_t verb) {
  std::string out;
  append_utf8(out, verb);
  return out;
}

std::string pad(std::string text, const Spec& spec, bool zeros) {
  if (!spec.width) return text;
  const auto have = static_cast<int>(rune_count(text));
  if (have >= *spec.width) return text;
  const auto missing = static_cast<size_t>(*spec.width - have);
  if (spec.minus) return text + std::string(missing, ' ');
  if (!zeros) return std::string(missing, ' ') + text;
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
  return text.substr(0, sign) + std::string(missing, '0') + text.substr(sign);
}

std::string bad_verb(const TemplateValue& value, const Spec& spec) {
  if (value.is_nil()) return fmt::format("%!{}(<nil>)", verb_text(spec.verb));
  return fmt::format("%!{}({}={})", verb_text(spec.verb), type_name(value), print_value(value));
}

// -- integers
// ----------------------------------------------------------------------------------------------------------

std::string digits_of(uint64_t magnitude, int base, bool upper) {
  char buffer[65];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  std::string out(buffer, end);
  if (upper) {
    for (char& c : out) c = static_cast<char>(c >= 'a' ? c - 32 : c);
  }
  return out;
}

std::string with_sign(std::string digits, bool negative, const Spec& spec) {
  if (negative) return "-" + digits;
  return spec.plus ? "+" + digits : spec.space ? " " + digits : digits;
}

std::string format_integer(int64_t value, const Spec& spec, int base, std::string_view prefix) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits = digits_of(magnitude, base, spec.verb == 'X');
  if (spec.precision && *spec.precision == 0 && value == 0) return pad("", spec, false);
  size_t least = spec.precision ? static_cast<size_t>(*spec.precision) : 0;
  const bool zeros = spec.zero && !spec.minus && spec.width && !spec.precision;
  if (zeros) {
    const bool sign = negative || spec.plus || spec.space;
    least = static_cast<size_t>(std::max(0, *spec.width - (sign ? 1 : 0)));
  }
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  if (spec.sharp && base == 8 && digits[0] != '0') digits.insert(0, "0");
  return pad(with_sign(std::string(prefix) + digits, negative, spec), spec, false);
}

std::string format_rune(int64_t value, const Spec& spec) {
  std::string out;
  append_utf8(out, value < 0 || value > 0x10ffff ? 0xfffd : static_cast<char32_t>(value));
  return pad(out, spec, false);
}

std::string format_unicode(int64_t value, const Spec& spec) {
  std::string out = fmt::format("U+{:04X}", static_cast<uint64_t>(value));
  if (spec.sharp && value >= 0 && is_printable(static_cast<char32_t>(value))) {
    out += " '" + format_rune(value, {}) + "'";
  }
  return pad(out, spec, false);
}

std::string quote_ascii(std::string_view text, char mark) {
  std::string quoted = quote(text), out;
  std::string_view rest = std::string_view(quoted).substr(1, quoted.size() - 2);
  while (!rest.empty()) {
    size_t size = 0;
    const char32_t rune = decode_utf8(rest, size);
    if (rune < 0x80) {
      out += rest.substr(0, size);
    } else {
      out += rune < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(rune))
                            : fmt::format("\\U{:08x}", static_cast<uint32_t>(rune));
    }
    rest.remove_prefix(size);
  }
  return mark + out + mark;
}

std::string quote_rune(int64_t value, const Spec& spec) {
  std::string rune = format_rune(value, {});
  if (rune == "'") return pad("'\\''", spec, false);
  if (rune == "\"") return pad("'\"'", spec, false);
  std::string quoted = spec.plus ? quote_ascii(rune, '\'') : quote(rune);
  quoted.front() = quoted.back() = '\'';
  return pad(quoted, spec, false);
}

std::string print_integer(const TemplateValue& original, int64_t value, const Spec& spec) {
  switch (spec.verb) {
    case 'v':
    case 'd':
      return format_integer(value, spec, 10, "");
    case 'b':
      return format_integer(value, spec, 2, spec.sharp ? "0b" : "");
    case 'o':
      return format_integer(value, spec, 8, "");
    case 'O':
      return format_integer(value, spec, 8, "0o");
    case 'x':
      return format_integer(value, spec, 16, spec.sharp ? "0x" : "");
    case 'X':
      return format_integer(value, spec, 16, spec.sharp ? "0X" : "");
    case 'c':
      return format_rune(value, spec);
    case 'q':
      return quote_rune(value, spec);
    case 'U':
      return format_unicode(value, spec);
    default:
      return bad_verb(original, spec);
  }
}

// -- floats
// ------------------------------------------------------------------------------------------------------------

// Go writes at least two exponent digits, as printf does; %e of to_chars does too.
std::string float_digits(double magnitude, char verb, std::optional<int> precision) {
  const auto format = verb == 'e'   ? std::chars_format::scientific
                      : verb == 'f' ? std::chars_format::fixed
                                    : std::chars_format::general;
  std::string buffer(static_cast<size_t>(400 + precision.value_or(0)), '\0');
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const auto result = precision ? std::to_chars(begin, limit, magnitude, format, *precision)
                                : std::to_chars(begin, limit, magnitude, format);
  buffer.resize(static_cast<size_t>(result.ptr - begin));
  return buffer;
}

std::string hex_float(double magnitude, std::optional<int> precision) {
  std::string buffer(static_cast<size_t>(64 + precision.value_or(0)), '\0');
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const auto result =
      precision ? std::to_chars(begin, limit, magnitude, std::chars_format::hex, *precision)
                : std::to_chars(begin, limit, magnitude, std::chars_format::hex);
  buffer.resize(static_cast<size_t>(result.ptr - begin));
  const size_t exponent = buffer.find('p');
  if (exponent != std::string::npos && buffer.size() - exponent == 3)
    buffer.insert(exponent + 2, "0");
  return "0x" + buffer;
}

std::string binary_float(double magnitude) {
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return fmt::format("{}p{:+}", mantissa, magnitude == 0 ? -1074 : exponent - 53);
}

std::string finite_digits(double magnitude, const Spec& spec) {
  switch (spec.verb) {
    case 'e':
    case 'E':
      return float_digits(magnitude, 'e', spec.precision.value_or(6));
    case 'f':
    case 'F':
      return float_digits(magnitude, 'f', spec.precision.value_or(6));
    case 'x':
    case 'X':
      return hex_float(magnitude, spec.precision);
    case 'b':
      return binary_float(magnitude);
    default:
      break;
  }
  if (spec.precision) return float_digits(magnitude, 'g', *spec.precision);
  return format_go_float(magnitude);
}

std::string print_float(const TemplateValue& original, double value, const Spec& spec) {
  constexpr std::string_view kVerbs = "vbgGeEfFxX";
  if (spec.verb > 0x7f || kVerbs.find(static_cast<char>(spec.verb)) == std::string_view::npos) {
    return bad_verb(original, spec);
  }
  const bool negative = std::signbit(value) && !std::isnan(value);
  if (std::isnan(value) || std::isinf(value)) {
    std::string text = std::isnan(value) ? "NaN" : "Inf";
    Spec plain = spec;
    plain.plus = spec.plus || (std::isinf(value) && spec.verb != 'v' ? true : std::isinf(value));
    return pad(with_sign(std::move(text), negative, plain), spec, false);
  }
  std::string digits = finite_digits(std::abs(value), spec);
  if (spec.verb == 'E' || spec.verb == 'G' || spec.verb == 'X') {
    for (char& c : digits) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return pad(with_sign(std::move(digits), negative, spec), spec, spec.zero && !spec.minus);
}

// -- texts
// -------------------------------------------------------------------------------------------------------------

std::string cut(std::string_view text, const std::optional<int>& precision) {
  if (!precision) return std::string(text);
  size_t end = 0;
  for (int runes = 0; runes < *precision && end < text.size(); ++runes) {
    size_t size = 0;
    decode_utf8(text.substr(end), size);
    end += size;
  }
  return std::string(text.substr(0, end));
}

std::string hex_bytes(std::string_view text, const Spec& spec) {
  if (spec.precision) text = text.substr(0, static_cast<size_t>(*spec.precision));
  const bool upper = spec.verb == 'X';
  const std::string_view prefix = !spec.sharp ? "" : upper ? "0X" : "0x";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (spec.space && i > 0) out.push_back(' ');
    if (i == 0 || spec.space) out += prefix;
    const auto byte = static_cast<unsigned char>(text[i]);
    out += upper ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte);
  }
  return out;
}

std::string print_text(const TemplateValue& original, std::string_view text, const Spec& spec) {
  switch (spec.verb) {
    case 'v':
      if (spec.sharp) return pad(quote(text), spec, false);
      return pad(cut(text, spec.precision), spec, spec.zero);
    case 's':
      return pad(cut(text, spec.precision), spec, spec.zero);
    case 'x':
    case 'X':
      return pad(hex_bytes(text, spec), spec, spec.zero);
    case 'q': {
      const std::string shown = cut(text, spec.precision);
      const bool raw = spec.sharp && shown.find_first_of("`\n\r") == std::string::npos;
      return pad(raw         ? "`" + shown + "`"
                 : spec.plus ? quote_ascii(shown, '"')
                             : quote(shown),
                 spec, spec.zero);
    }
    default:
      return bad_verb(original, spec);
  }
}

// -- everything
// --------------------------------------------------------------------------------------------------------

std::string print_one(const TemplateValue& value, const Spec& spec);

std::string print_elements(const ValueList& list, const Spec& spec) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : " ") + print_one(list[i], spec);
  return out + "]";
}

std::string print_entries(const ValueMap& map, const Spec& spec) {
  std::string out = "map[";
  for (const auto& [key, value] : map) {
    if (out.size() > 4) out.push_back(' ');
    out += print_one(TemplateValue(key), spec) + ":" + print_one(value, spec);
  }
  return out + "]";
}

bool textual(char32_t verb) {
  return verb == 'v' || verb == 's' || verb == 'q' || verb == 'x' || verb == 'X';
}

std::string print_one(const TemplateValue& value, const Spec& spec) {
  if (spec.verb == 'T') return pad(type_name(value), spec, false);
  if (value.is_nil()) return spec.verb == 'v' ? pad("<nil>", spec, false) : bad_verb(value, spec);
  if (const auto* b = get_if<bool>(value)) {
    if (spec.verb != 'v' && spec.verb != 't') return bad_verb(value, spec);
    return pad(*b ? "true" : "false", spec, spec.zero);
  }
  if (const auto* i = get_if<int64_t>(value)) return print_integer(value, *i, spec);
  if (const auto* d = get_if<double>(value)) return print_float(value, *d, spec);
  if (const auto* d = get_if<nanoseconds>(value)) {
    return textual(spec.verb) && spec.verb != 'x' && spec.verb != 'X'
               ? print_text(value, print_value(value), spec)
               : print_integer(value, d->count(), spec);
  }
  if (const std::string* text = as_text(value)) return print_text(value, *text, spec);
  if (get_if<std::shared_ptr<const ValueList>>(value) != nullptr)
    return print_elements(*list_of(value), spec);
  if (get_if<std::shared_ptr<const ValueMap>>(value) != nullptr)
    return print_entries(*map_of(value), spec);
  if (!textual(spec.verb)) return bad_verb(value, spec);
  Spec shown = spec;
  if (spec.verb == 'v') shown.sharp = false;
  return print_text(value, print_value(value), shown);
}

class Formatter {
 public:
  Formatter(std::string_view format, std::span<const TemplateValue> args)
      : rest_(format), args_(args) {}

  std::string run() {
    while (!rest_.empty()) {
      const size_t percent = std::min(rest_.find('%'), rest_.size());
      out_ += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (!rest_.empty()) directive();
    }
    if (!reordered_ && next_ < args_.size()) extra();
    return std::move(out_);
  }

 private:
  void extra() {
    out_ += "%!(EXTRA ";
    for (size_t i = next_; i < args_.size(); ++i) {
      if (i > next_) out_ += ", ";
      out_ += args_[i].is_nil() ? "<nil>" : type_name(args_[i]) + "=" + print_value(args_[i]);
    }
    out_ += ")";
  }

  std::optional<int> number() {
    size_t n = 0;
    int value = 0;
    while (n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9') {
      value = std::min(value * 10 + (rest_[n++] - '0'), kMaxWidth + 1);
    }
    if (n == 0) return std::nullopt;
    rest_.remove_prefix(n);
    return value;
  }

  // "[n]": chooses the argument that comes next.
  void argument_index() {
    if (!rest_.starts_with('[')) return;
    reordered_ = true;
    const size_t close = rest_.find(']');
    rest_.remove_prefix(1);
    const auto index = number();
    const bool good = close != std::string_view::npos && index && rest_.starts_with(']') &&
                      *index >= 1 && static_cast<size_t>(*index) <= args_.size();
    if (close != std::string_view::npos) rest_.remove_prefix(rest_.find(']') + 1);
    if (good)
      next_ = static_cast<size_t>(*index - 1);
    else
      bad_index_ = true;
  }

  void flags(Spec& spec) {
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      switch (rest_[0]) {
        case '-':
          spec.minus = true;
          break;
        case '+':
          spec.plus = true;
          break;
        case '#':
          spec.sharp = true;
          break;
        case ' ':
          spec.space = true;
          break;
        case '0':
          spec.zero = true;
          break;
        default:
          return;
      }
    }
  }

  // "*": the width or precision is an argument.
  std::optional<int> starred(std::string_view complaint) {
    rest_.remove_prefix(1);
    const auto* n = next_ < args_.size() ? get_if<int64_t>(args_[next_]) : nullptr;
    if (next_ < args_.size()) ++next_;
    if (n == nullptr || std::abs(*n) > kMaxWidth) {
      out_ += complaint;
      return std::nullopt;
    }
    return static_cast<int>(*n);
  }

  void width(Spec& spec) {
    if (rest_.starts_with('*')) {
      spec.width = starred("%!(BADWIDTH)");
      if (spec.width && *spec.width < 0) {
        spec.minus = true, spec.zero = false;
        spec.width = -*spec.width;
      }
    } else {
      spec.width = number();
      if (spec.width && *spec.width > kMaxWidth) spec.width.reset(), out_ += "%!(BADWIDTH)";
    }
  }

  void precision(Spec& spec) {
    if (!rest_.starts_with('.')) return;
    rest_.remove_prefix(1);
    argument_index();
    if (rest_.starts_with('*')) {
      spec.precision = starred("%!(BADPREC)");
      if (spec.precision && *spec.precision < 0) spec.precision.reset(), out_ += "%!(BADPREC)";
    } else {
      spec.precision = number().value_or(0);
      if (*spec.precision > kMaxWidth) spec.precision.reset(), out_ += "%!(BADPREC)";
    }
  }

  void directive() {
    rest_.remove_prefix(1);
    Spec spec;
    bad_index_ = false;
    flags(spec);
    argument_index();
    width(spec);
    precision(spec);
    argument_index();
    if (rest_.empty()) {
      out_ += "%!(NOVERB)";
      return;
    }
    size_t size = 0;
    spec.verb = decode_utf8(rest_, size);
    rest_.remove_prefix(size);
    if (spec.verb == '%') {
      out_ += "%";
    } else if (bad_index_) {
      out_ += fmt::format("%!{}(BADINDEX)", verb_text(spec.verb));
    } else if (next_ >= args_.size()) {
      out_ += fmt::format("%!{}(MISSING)", verb_text(spec.verb));
    } else {
      out_ += print_one(args_[next_++], spec);
    }
  }

  std::string_view rest_;
  std::span<const TemplateValue> args_;
  std::string out_;
  size_t next_ = 0;
  bool reordered_ = false, bad_index_ = false;
};

}  // namespace

std::string sprintf_go(std::string_view format, std::span<const TemplateValue> args) {
  return Formatter(format, args).run();
}

}  // namespace vagt::tmpl
