#include "template/unicode.h"

#include <fmt/core.h>

namespace vagt::tmpl {
namespace {

// Upper and lower case of Latin-1, Latin Extended-A, Greek and Cyrillic: what label values hold in
// practice.
char32_t upper_rune(char32_t r) {
  if (r >= 'a' && r <= 'z') return r - 32;
  if (r < 0x80) return r;
  if (r == 0xb5) return 0x39c;
  if ((r >= 0xe0 && r <= 0xfe && r != 0xf7)) return r - 32;
  if (r == 0xff) return 0x178;
  if (r == 0x131) return 'I';
  if (r == 0x17f) return 'S';
  if ((r >= 0x100 && r <= 0x137) || (r >= 0x14a && r <= 0x177))
    return r == 0x130 ? r : r & ~char32_t{1};
  if ((r >= 0x139 && r <= 0x148) || (r >= 0x179 && r <= 0x17e)) return (r & 1) != 0 ? r : r - 1;
  if (r >= 0x3b1 && r <= 0x3cb && r != 0x3c2) return r - 32;
  if (r == 0x3c2) return 0x3a3;
  if (r == 0x3ac) return 0x386;
  if (r >= 0x3ad && r <= 0x3af) return r - 37;
  if (r == 0x3cc) return 0x38c;
  if (r == 0x3cd || r == 0x3ce) return r - 63;
  if (r >= 0x430 && r <= 0x44f) return r - 32;
  if (r >= 0x450 && r <= 0x45f) return r - 80;
  if (r >= 0x460 && r <= 0x481) return r & ~char32_t{1};
  return r;
}

char32_t lower_rune(char32_t r) {
  if (r >= 'A' && r <= 'Z') return r + 32;
  if (r < 0x80) return r;
  if (r >= 0xc0 && r <= 0xde && r != 0xd7) return r + 32;
  if (r == 0x178) return 0xff;
  if (r == 0x130) return 'i';
  if ((r >= 0x100 && r <= 0x137) || (r >= 0x14a && r <= 0x177)) return r == 0x131 ? r : r | 1;
  if ((r >= 0x139 && r <= 0x148) || (r >= 0x179 && r <= 0x17e)) return (r & 1) != 0 ? r + 1 : r;
  if (r >= 0x391 && r <= 0x3ab && r != 0x3a2) return r + 32;
  if (r == 0x386) return 0x3ac;
  if (r >= 0x388 && r <= 0x38a) return r + 37;
  if (r == 0x38c) return 0x3cc;
  if (r == 0x38e || r == 0x38f) return r + 63;
  if (r >= 0x410 && r <= 0x42f) return r + 32;
  if (r >= 0x400 && r <= 0x40f) return r + 80;
  if (r >= 0x460 && r <= 0x481) return r | 1;
  return r;
}

bool is_unicode_space(char32_t r) {
  return r == ' ' || (r >= 9 && r <= 13) || r == 0x85 || r == 0xa0 || r == 0x1680 ||
         (r >= 0x2000 && r <= 0x200a) || r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f ||
         r == 0x3000;
}

bool is_symbol_above_ascii(char32_t r) {
  return (r >= 0x80 && r <= 0xbf && r != 0xaa && r != 0xb5 && r != 0xba) || r == 0xd7 ||
         r == 0xf7 || (r >= 0x2000 && r <= 0x2bff) || (r >= 0x3000 && r <= 0x3004) ||
         (r >= 0x3008 && r <= 0x3020) || (r >= 0xd800 && r <= 0xf8ff) ||
         (r >= 0xfe00 && r <= 0xfe6f) || (r >= 0xff00 && r <= 0xff20) ||
         (r >= 0xfff0 && r <= 0xffff) || (r >= 0x1f000 && r <= 0x1ffff) || r >= 0xe0000;
}

template <class F>
std::string map_runes(std::string_view text, F change) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    size_t size = 0;
    append_utf8(out, change(decode_utf8(text, size)));
    text.remove_prefix(size);
  }
  return out;
}

// Go's isSeparator of strings.Title.
bool is_separator(char32_t r) {
  if (r < 0x80) return !is_name_rune(r);
  return !is_letter(r) && is_unicode_space(r);
}

}  // namespace

char32_t decode_utf8(std::string_view text, size_t& size) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size = 1;
  if (first < 0x80) return first;
  const size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < want) return 0xfffd;
  char32_t rune = first & (0xffu >> (want + 1));
  for (size_t i = 1; i < want; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0xfffd;
    rune = (rune << 6) | (byte(i) & 0x3fu);
  }
  const char32_t least = want == 4 ? 0x10000 : want == 3 ? 0x800 : 0x80;
  if (rune < least || rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) return 0xfffd;
  size = want;
  return rune;
}

void append_utf8(std::string& out, char32_t rune) {
  const auto push = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) rune = 0xfffd;
  if (rune < 0x80) return push(rune);
  if (rune < 0x800) return push(0xc0 | rune >> 6), push(0x80 | (rune & 0x3f));
  if (rune < 0x10000)
    return push(0xe0 | rune >> 12), push(0x80 | (rune >> 6 & 0x3f)), push(0x80 | (rune & 0x3f));
  push(0xf0 | rune >> 18), push(0x80 | (rune >> 12 & 0x3f)), push(0x80 | (rune >> 6 & 0x3f));
  push(0x80 | (rune & 0x3f));
}

size_t rune_count(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    size_t size = 0;
    decode_utf8(text, size);
    text.remove_prefix(size);
    ++count;
  }
  return count;
}

bool is_letter(char32_t r) {
  if (r < 0x80) return (r | 0x20) >= 'a' && (r | 0x20) <= 'z';
  return !is_symbol_above_ascii(r) && !is_unicode_space(r) && !(r >= 0x300 && r <= 0x36f);
}

bool is_name_rune(char32_t r) { return r == '_' || (r >= '0' && r <= '9') || is_letter(r); }

bool is_printable(char32_t r) {
  if (r < 0x80) return r >= 0x20 && r < 0x7f;
  if (r <= 0xa0 || r == 0xad) return false;
  if (is_unicode_space(r) || (r >= 0x200b && r <= 0x200f) || (r >= 0x202a && r <= 0x202e))
    return false;
  if (r >= 0x2060 && r <= 0x206f) return false;
  return !(r >= 0xd800 && r <= 0xf8ff) && r != 0xfeff && !(r >= 0xfff0 && r <= 0xfffb) &&
         r < 0xe0000;
}

std::string describe_rune(char32_t rune) {
  std::string out = fmt::format("U+{:04X}", static_cast<uint32_t>(rune));
  if (!is_printable(rune)) return out;
  out += " '";
  append_utf8(out, rune);
  return out + "'";
}

std::string to_upper(std::string_view text) { return map_runes(text, upper_rune); }
std::string to_lower(std::string_view text) { return map_runes(text, lower_rune); }

std::string title_words(std::string_view text) {
  char32_t before = ' ';
  return map_runes(text, [&](char32_t rune) {
    const bool first = is_separator(before);
    before = rune;
    return first ? upper_rune(rune) : rune;
  });
}

std::string title_words_lowering(std::string_view text) {
  bool inside =
      false;  // behind the first letter of a word; an apostrophe between letters does not end it
  char32_t before = ' ';
  return map_runes(text, [&](char32_t rune) {
    const bool letter = is_letter(rune);
    const bool digit = (rune >= '0' && rune <= '9') || rune == '_';
    const bool joins = (rune == '\'' || rune == 0x2019 || rune == '.') && is_letter(before);
    before = rune;
    if (letter) return inside ? lower_rune(rune) : (inside = true, upper_rune(rune));
    if (!digit && !joins) inside = false;
    return rune;
  });
}

std::string trim_space(std::string_view text) {
  size_t size = 0;
  while (!text.empty() && is_unicode_space(decode_utf8(text, size))) text.remove_prefix(size);
  while (!text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) --start;
    if (!is_unicode_space(decode_utf8(text.substr(start), size))) break;
    text.remove_suffix(text.size() - start);
  }
  return std::string(text);
}

}  // namespace vagt::tmpl
