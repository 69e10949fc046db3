// The character classes of the formats.
#pragma once

namespace vagt::exposition {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}
inline bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }
inline bool is_label_start(char c) { return is_name_start(c) && c != ':'; }
inline bool is_label_char(char c) { return is_name_char(c) && c != ':'; }

}  // namespace vagt::exposition
