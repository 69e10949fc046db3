#include "query/parse/scan.h"

#include <fmt/core.h>

#include <algorithm>

namespace vagt::query::syntax {
namespace {

constexpr size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// Overlong forms, surrogates and values beyond U+10FFFF are not UTF-8.
constexpr bool is_shortest(int32_t value, size_t length) {
  if (length == 3) return value >= 0x800 && (value < 0xD800 || value > 0xDFFF);
  if (length == 4) return value >= 0x10000 && value <= 0x10FFFF;
  return true;
}

bool one_of(int32_t c, std::string_view set) {
  return c != kEnd && c < 0x80 && set.find(static_cast<char>(c)) != std::string_view::npos;
}

// Takes one character of `set`.
bool take(std::string_view text, size_t& pos, std::string_view set) {
  if (!one_of(byte_at(text, pos), set)) return false;
  ++pos;
  return true;
}

constexpr std::string_view kDecimal = "0123456789";
constexpr std::string_view kHex = "0123456789abcdefABCDEF";

// A number has one point at most, one exponent at most, and underscores between digits. What passes
// here may still be no number ("0x"): the conversion says so.
bool scan_plain_number(std::string_view text, size_t& pos) {
  const size_t begin = pos;
  std::string_view digits = kDecimal;
  if (take(text, pos, "0") && take(text, pos, "xX")) {
    take(text, pos, "_");
    digits = kHex;
  }
  take(text, pos, ".");
  take(text, pos, digits);
  bool seen_point = false, seen_exponent = false;
  for (;;) {
    const int32_t c = byte_at(text, pos);
    if (c == '.') {
      ++pos;
      if (seen_point) return false;
      seen_point = true;
      if (take(text, pos, "_.") || digits.size() > kDecimal.size()) return false;
    } else if (c == 'e' || c == 'E') {
      ++pos;
      if (seen_exponent) return false;
      seen_exponent = true;
      take(text, pos, "+-");
      if (take(text, pos, "._eE") || pos >= text.size()) return false;
    } else if (c == '_') {
      ++pos;
      if (take(text, pos, "._eE") || pos >= text.size()) return false;
    } else if (one_of(c, digits)) {
      while (take(text, pos, digits)) {
      }
    } else {
      break;
    }
  }
  return pos > begin && !is_word(byte_at(text, pos));
}

// Continues where the number stopped: a unit, then pairs of digits and unit.
bool scan_duration_tail(std::string_view text, size_t& pos) {
  if (!take(text, pos, "smhdwy")) return false;
  take(text, pos, "s");
  while (take(text, pos, kDecimal)) {
    while (take(text, pos, kDecimal)) {
    }
    if (!take(text, pos, "smhdw")) return false;
    take(text, pos, "s");
  }
  if (!is_word(byte_at(text, pos))) return true;
  ++pos;  // the character that spoils it belongs to the error text
  return false;
}

int hex_value(int32_t c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// The escape after a backslash; `pos` stands behind the backslash.
std::string scan_escape(std::string_view text, size_t& pos, char quote) {
  const Rune first = rune_at(text, pos);
  pos += first.width;
  int digits = 0, base = 16;
  uint32_t max = 0x10FFFF;
  if (one_of(first.value, "abfnrtv\\") || first.value == quote) return "";
  if (first.value >= '0' && first.value <= '7') {
    digits = 3, base = 8, max = 255;
    pos -= first.width;
  } else if (first.value == 'x') {
    digits = 2, max = 255;
  } else if (first.value == 'u') {
    digits = 4;
  } else if (first.value == 'U') {
    digits = 8;
  } else if (first.value == kEnd) {
    return "escape sequence not terminated";
  } else {
    return "unknown escape sequence " + name_rune(first.value);
  }
  uint64_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const Rune digit = rune_at(text, pos);
    if (digit.value == kEnd) return "escape sequence not terminated";
    if (hex_value(digit.value) >= base)
      return fmt::format("illegal character {} in escape sequence", name_rune(digit.value));
    value = value * static_cast<uint64_t>(base) + static_cast<uint64_t>(hex_value(digit.value));
    pos += digit.width;
  }
  if (value > max || (value >= 0xD800 && value < 0xE000))
    return "escape sequence is an invalid Unicode code point";
  return "";
}

}  // namespace

Rune rune_at(std::string_view text, size_t pos) {
  if (pos >= text.size()) return {};
  const auto first = static_cast<unsigned char>(text[pos]);
  const size_t length = sequence_length(first);
  if (length == 1) return {first, 1};
  if (length == 0 || pos + length > text.size()) return {kBadRune, 1};
  int32_t value = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[pos + i]);
    if ((next & 0xC0) != 0x80) return {kBadRune, 1};
    value = value << 6 | (next & 0x3F);
  }
  if (!is_shortest(value, length)) return {kBadRune, 1};
  return {value, length};
}

void append_utf8(std::string& out, uint32_t rune) {
  const auto tail = [&](uint32_t shift) {
    out += static_cast<char>(0x80 | (rune >> shift & 0x3F));
  };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | rune >> 6);
    tail(0);
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | rune >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | rune >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string quote_rune(int32_t rune) {
  switch (rune) {
    case kEnd:
      return "'\xEF\xBF\xBD'";
    case '\'':
      return "'\\''";
    case '\\':
      return "'\\\\'";
    case '\n':
      return "'\\n'";
    case '\t':
      return "'\\t'";
    case '\r':
      return "'\\r'";
    case '\a':
      return "'\\a'";
    case '\b':
      return "'\\b'";
    case '\f':
      return "'\\f'";
    case '\v':
      return "'\\v'";
    default:
      break;
  }
  if (rune < 0x20 || rune == 0x7F) return fmt::format("'\\x{:02x}'", rune);
  if (rune < 0x80) return fmt::format("'{}'", static_cast<char>(rune));
  std::string out = "'";
  append_utf8(out, static_cast<uint32_t>(rune));
  return out + "'";
}

std::string name_rune(int32_t rune) {
  std::string out = fmt::format("U+{:04X}", rune);
  if (rune < 0x20 || rune == 0x7F) return out;
  out += " '";
  append_utf8(out, static_cast<uint32_t>(rune));
  return out + "'";
}

NumberKind scan_number(std::string_view text, size_t& pos) {
  if (scan_plain_number(text, pos)) return NumberKind::Number;
  return scan_duration_tail(text, pos) ? NumberKind::Duration : NumberKind::Bad;
}

std::string scan_string(std::string_view text, size_t& pos) {
  const char quote = text[pos++];
  for (;;) {
    const Rune rune = rune_at(text, pos);
    if (rune.value == kEnd)
      return quote == '`' ? "unterminated raw string" : "unterminated quoted string";
    if (rune.value == kBadRune) return "invalid UTF-8 rune";
    pos += rune.width;
    if (rune.value == quote) return "";
    if (quote == '`') continue;
    if (rune.value == '\n') return "unterminated quoted string";
    if (rune.value != '\\') continue;
    if (std::string wrong = scan_escape(text, pos, quote); !wrong.empty()) return wrong;
  }
}

void append_unescaped(std::string& out, std::string_view body, size_t& pos) {
  const char c = body[pos + 1];
  constexpr std::string_view kNames = "abfnrtv", kValues = "\a\b\f\n\r\t\v";
  if (const size_t i = kNames.find(c); i != std::string_view::npos) {
    out += kValues[i];
    pos += 2;
    return;
  }
  const bool octal = is_digit(c);
  const size_t skip = octal ? 1 : 2;  // the backslash, and the letter
  const size_t digits = octal ? 3 : c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  uint32_t value = 0;
  for (size_t i = 0; i < digits; ++i)
    value = value * (octal ? 8 : 16) + static_cast<uint32_t>(hex_value(body[pos + skip + i]));
  if (digits == 0) {
    out += c;  // a quote or a backslash
  } else if (digits <= 3) {
    out += static_cast<char>(value);
  } else {
    append_utf8(out, value);
  }
  pos += skip + digits;
}

}  // namespace vagt::query::syntax
