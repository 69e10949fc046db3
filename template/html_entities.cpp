#include "template/html_entities.h"

#include <charconv>
#include <map>
#include <optional>

#include "template/unicode.h"

namespace vagt::tmpl::html {
namespace {

std::optional<char32_t> reference(std::string_view name) {
  static const std::map<std::string_view, char32_t> kNamed = {
      {"amp", '&'},    {"lt", '<'},     {"gt", '>'},       {"quot", '"'},   {"apos", '\''},
      {"nbsp", 0xa0},  {"sol", '/'},    {"bsol", '\\'},    {"num", '#'},    {"quest", '?'},
      {"colon", ':'},  {"semi", ';'},   {"equals", '='},   {"lpar", '('},   {"rpar", ')'},
      {"lbrack", '['}, {"rbrack", ']'}, {"lbrace", '{'},   {"rbrace", '}'}, {"grave", '`'},
      {"excl", '!'},   {"Tab", '\t'},   {"NewLine", '\n'}, {"comma", ','},  {"plus", '+'},
      {"percnt", '%'}, {"ast", '*'},    {"verbar", '|'},   {"lowbar", '_'}, {"commat", '@'},
      {"dollar", '$'}, {"copy", 0xa9},  {"reg", 0xae},     {"deg", 0xb0}};
  if (!name.starts_with('#')) {
    const auto found = kNamed.find(name);
    if (found == kNamed.end()) return std::nullopt;
    return found->second;
  }
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), value, hex ? 16 : 10);
  if (name.empty() || end != name.data() + name.size() || error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::string decode_entities(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t amp = std::min(text.find('&'), text.size());
    out += text.substr(0, amp);
    text.remove_prefix(amp);
    if (text.empty()) break;
    const size_t semicolon = text.substr(0, 12).find(';');
    const auto rune = semicolon == std::string_view::npos
                          ? std::nullopt
                          : reference(text.substr(1, semicolon - 1));
    if (rune)
      append_utf8(out, *rune);
    else
      out.push_back('&');
    text.remove_prefix(rune ? semicolon + 1 : 1);
  }
  return out;
}

}  // namespace vagt::tmpl::html
