// Names, UTF-8 and Go-style quoting of texts.
#include <fmt/core.h>

#include "base/labels.h"

namespace vagt {
namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of the well-formed sequence at the start of `text`; 0 when it is malformed. `rune` gets
// its code point.
size_t decode_rune(std::string_view text, uint32_t& rune) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    rune = first;
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF && follows(1)) {
    rune = (first & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    return 2;
  }
  if (first >= 0xE0 && first <= 0xEF && follows(1) && follows(2)) {
    rune = (first & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    const bool overlong = rune < 0x800, surrogate = rune >= 0xD800 && rune <= 0xDFFF;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && follows(1) && follows(2) && follows(3)) {
    rune = (first & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
           (byte(3) & 0x3Fu);
    return rune < 0x10000 || rune > 0x10FFFF ? 0 : 4;
  }
  return 0;
}

// Code points Go's strconv.Quote escapes although they are valid: controls, separators, format
// characters, private use.
bool is_printable(uint32_t rune) {
  if (rune < 0x20 || rune == 0x7F) return false;
  if (rune < 0x7F) return true;
  if (rune < 0xA1 || rune == 0xAD) return false;
  if ((rune >= 0x2000 && rune <= 0x200F) || (rune >= 0x2028 && rune <= 0x202F)) return false;
  if (rune >= 0x205F && rune <= 0x206F) return false;
  if (rune == 0x1680 || rune == 0x3000 || rune == 0xFEFF) return false;
  if (rune >= 0xE000 && rune <= 0xF8FF) return false;
  if ((rune & 0xFFFE) == 0xFFFE) return false;
  return rune < 0xE0000;
}

void append_escape(std::string& out, uint32_t rune) {
  switch (rune) {
    case '\a':
      out += "\\a";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\v':
      out += "\\v";
      return;
    default:
      break;
  }
  if (rune < 0x80) {
    out += fmt::format("\\x{:02x}", rune);
  } else if (rune < 0x10000) {
    out += fmt::format("\\u{:04x}", rune);
  } else {
    out += fmt::format("\\U{:08x}", rune);
  }
}

}  // namespace

void append_utf8(std::string& out, uint32_t rune) {
  const auto tail = [&out, rune](int shift) {
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

bool is_legacy_metric_name(std::string_view name) {
  if (name.empty() || !(is_alpha(name[0]) || name[0] == ':')) return false;
  for (const char c : name)
    if (!is_alpha(c) && !is_digit(c) && c != ':') return false;
  return true;
}

bool is_legacy_label_name(std::string_view name) {
  return is_legacy_metric_name(name) && name.find(':') == std::string_view::npos;
}

bool is_valid_utf8(std::string_view text) {
  uint32_t rune = 0;
  while (!text.empty()) {
    const size_t n = decode_rune(text, rune);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

bool is_utf8_name(std::string_view name) { return !name.empty() && is_valid_utf8(name); }

std::string quote(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    uint32_t rune = 0;
    const size_t n = decode_rune(text, rune);
    if (n == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (rune == '"' || rune == '\\') {
      out += '\\';
      out += static_cast<char>(rune);
    } else if (is_printable(rune)) {
      out += text.substr(0, n);
    } else {
      append_escape(out, rune);
    }
    text.remove_prefix(n);
  }
  out += '"';
  return out;
}

}  // namespace vagt
