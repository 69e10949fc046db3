#include "base/base64.h"

#include <cstdint>

namespace vagt::base {

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const size_t value = c == '=' ? 0 : kAlphabet.find(c);
    if (value == std::string_view::npos || (padding != 0 && c != '=')) return std::nullopt;
    padding += c == '=' ? 1 : 0;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++digits % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(bits >> shift & 0xFF);
    bits = 0;
  }
  if (digits % 4 != 0 || padding > 2) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

}  // namespace vagt::base
