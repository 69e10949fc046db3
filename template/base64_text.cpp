#include "template/base64_text.h"

#include <fmt/core.h>

#include "base/labels.h"

namespace vagt::tmpl {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string encode_base64_url(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    const size_t have = std::min<size_t>(3, text.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < have ? static_cast<unsigned char>(text[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out.push_back(k <= have ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

Result<std::string> decode_base64_url(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  const size_t padding = text.find('=');
  const std::string_view body = text.substr(0, padding);
  for (size_t i = 0; i < body.size(); ++i) {
    const size_t value = kAlphabet.find(body[i]);
    if (value == std::string_view::npos)
      return Status::invalid(fmt::format("illegal base64 data at input byte {}", i));
    bits = bits << 6 | static_cast<uint32_t>(value);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out.push_back(static_cast<char>(bits >> have & 0xff));
  }
  if (text.size() % 4 != 0 || text.size() - body.size() > 2) {
    return Status::invalid(fmt::format("illegal base64 data at input byte {}", body.size()));
  }
  return out;
}

Result<std::string> unescape_query(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return Status::invalid("invalid URL escape " + quote(text.substr(i, 3)));
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

}  // namespace vagt::tmpl
