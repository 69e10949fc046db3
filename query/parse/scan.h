// Reading the insides of single tokens: characters, numbers, durations, strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vagt::query::syntax {

inline constexpr int32_t kEnd = -1;  // past the end of the text
inline constexpr int32_t kBadRune =
    0xFFFD;  // not UTF-8 (or U+FFFD itself, which Prometheus cannot tell apart)

constexpr bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(int32_t c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_word(int32_t c) { return is_letter(c) || is_digit(c); }
constexpr bool is_space(int32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Rune {
  int32_t value = kEnd;
  size_t width = 0;
};
Rune rune_at(std::string_view text, size_t pos);
inline int32_t byte_at(std::string_view text, size_t pos) {
  return pos < text.size() ? static_cast<unsigned char>(text[pos]) : kEnd;
}
// Go's %q of a rune, 'x', and its %#U, U+0078 'x'.
std::string quote_rune(int32_t rune);
std::string name_rune(int32_t rune);

void append_utf8(std::string& out, uint32_t rune);

enum class NumberKind : uint8_t { Bad, Number, Duration };
// Reads a number or duration at `pos` and moves `pos` behind it; Bad leaves `pos` behind what was
// looked at.
NumberKind scan_number(std::string_view text, size_t& pos);
// Reads a string whose opening quote stands at `pos`; "" or what is wrong with it.
std::string scan_string(std::string_view text, size_t& pos);
// What the escape whose backslash stands at `pos` means; moves `pos` behind it. scan_string has
// checked it.
void append_unescaped(std::string& out, std::string_view body, size_t& pos);

}  // namespace vagt::query::syntax
