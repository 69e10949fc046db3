#include "template/escape_text.h"

#include <fmt/core.h>

#include "template/unicode.h"

namespace vagt::tmpl {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\0':
        out += "\xef\xbf\xbd";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string escape_js(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t size = 0;
    const char32_t rune = decode_utf8(text, size);
    if (rune == '\\' || rune == '\'' || rune == '"') {
      out.push_back('\\');
      out.push_back(static_cast<char>(rune));
    } else if (rune < 0x20 || rune == '<' || rune == '>' || rune == '&' || rune == '=' ||
               !is_printable(rune)) {
      out += fmt::format("\\u{:04X}", static_cast<uint32_t>(rune));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string escape_query(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else if (c == ' ') {
      out.push_back('+');
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace vagt::tmpl
