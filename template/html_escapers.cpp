#include "template/html_escapers.h"

#include <fmt/core.h>

#include <array>

#include "template/html_context.h"
#include "template/html_script.h"
#include "template/json_value.h"
#include "template/unicode.h"
#include "template/value.h"

namespace vagt::tmpl::html {
namespace {

constexpr std::string_view kFailsafe = "ZgotmplZ";

std::string shown(const TemplateValue& value) { return value.is_nil() ? "" : print_value(value); }

enum class Table : uint8_t { Full, Norm, Nospace, NospaceNorm };

std::string_view replacement(char c, Table table) {
  const bool nospace = table == Table::Nospace || table == Table::NospaceNorm;
  const bool norm = table == Table::Norm || table == Table::NospaceNorm;
  switch (c) {
    case '\0':
      return "\xef\xbf\xbd";
    case '"':
      return "&#34;";
    case '&':
      return norm ? "" : "&amp;";
    case '\'':
      return "&#39;";
    case '+':
      return "&#43;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\t':
      return nospace ? "&#9;" : "";
    case '\n':
      return nospace ? "&#10;" : "";
    case '\v':
      return nospace ? "&#11;" : "";
    case '\f':
      return nospace ? "&#12;" : "";
    case '\r':
      return nospace ? "&#13;" : "";
    case ' ':
      return nospace ? "&#32;" : "";
    case '=':
      return nospace ? "&#61;" : "";
    case '`':
      return nospace ? "&#96;" : "";
    default:
      return "";
  }
}

std::string replace(std::string_view s, Table table) {
  std::string out;
  out.reserve(s.size());
  for (const char c : s) {
    const std::string_view with = replacement(c, table);
    if (with.empty())
      out.push_back(c);
    else
      out += with;
  }
  return out;
}

// The text of trusted HTML, for a place where tags have no meaning.
std::string strip_tags(std::string_view s) {
  std::string out;
  bool tag = false;
  for (const char c : s) {
    if (c == '<') tag = true;
    if (!tag) out.push_back(c);
    if (c == '>') tag = false;
  }
  return out;
}

bool is_alnum(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }
bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

std::string process_url(std::string_view s, bool norm) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool reserved = std::string_view("!#$&*+,/:;=?@[]").find(c) != std::string_view::npos;
    const bool plain = is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
    const bool escaped = c == '%' && i + 2 < s.size() && is_hex(s[i + 1]) && is_hex(s[i + 2]);
    if (plain || (norm && (reserved || escaped)))
      out.push_back(c);
    else
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

bool is_safe_url(std::string_view s) {
  const size_t colon = s.find(':');
  if (colon == std::string_view::npos || s.substr(0, colon).find('/') != std::string_view::npos)
    return true;
  const std::string scheme = to_lower(s.substr(0, colon));
  return scheme == "http" || scheme == "https" || scheme == "mailto";
}

std::string js_text(std::string_view s, std::string_view also) {
  std::string out;
  while (!s.empty()) {
    size_t size = 0;
    const char32_t r = decode_utf8(s, size);
    switch (r) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\r':
        out += "\\r";
        break;
      case '/':
        out += "\\/";
        break;
      case '\\':
        out += "\\\\";
        break;
      case 0:
      case '\v':
      case '"':
      case '`':
      case '&':
      case '\'':
      case '+':
      case '<':
      case '>':
      case 0x2028:
      case 0x2029:
        out += fmt::format("\\u{:04x}", static_cast<uint32_t>(r));
        break;
      default:
        if (r < 0x80 && also.find(static_cast<char>(r)) != std::string_view::npos)
          out.push_back('\\');
        out += s.substr(0, size);
    }
    s.remove_prefix(size);
  }
  return out;
}

bool is_js_word(char c) { return is_alnum(c) || c == '$' || c == '_' || (c & 0x80) != 0; }

}  // namespace

std::string text(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Html)) return *safe;
  return replace(shown(value), Table::Full);
}

std::string rcdata(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Html)) return replace(*safe, Table::Norm);
  return replace(shown(value), Table::Full);
}

std::string attr(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Html))
    return replace(strip_tags(*safe), Table::Norm);
  return replace(shown(value), Table::Full);
}

std::string attr_unquoted(const TemplateValue& value) {
  const std::string* safe = as_safe(value, SafeKind::Html);
  const std::string out = safe != nullptr ? replace(strip_tags(*safe), Table::NospaceNorm)
                                          : replace(shown(value), Table::Nospace);
  return out.empty() ? std::string(kFailsafe) : out;
}

std::string attr_name(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Attribute)) return *safe;
  const std::string name = to_lower(shown(value));
  if (name.empty() || attr_type(name) != AttrType::Plain) return std::string(kFailsafe);
  for (const char c : name) {
    if (!is_alnum(c)) return std::string(kFailsafe);
  }
  return name;
}

std::string comment(const TemplateValue&) { return ""; }

std::string url_filter(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Url)) return *safe;
  const std::string url = shown(value);
  return is_safe_url(url) ? url : "#" + std::string(kFailsafe);
}

std::string url_normal(const TemplateValue& value) { return process_url(shown(value), true); }

std::string url_query(const TemplateValue& value) {
  return process_url(shown(value), as_safe(value, SafeKind::Url) != nullptr);
}

std::string srcset(const TemplateValue& value) {
  const std::string all = shown(value);
  std::string out;
  std::string_view rest = all;
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string part = trim_space(rest.substr(0, comma));
    const std::string url = part.substr(0, part.find(' '));
    if (!out.empty()) out.push_back(',');
    if (is_safe_url(url))
      out += process_url(url, true) + part.substr(url.size());
    else
      out += "#" + std::string(kFailsafe);
    if (comma == rest.size()) return out;
    rest.remove_prefix(comma + 1);
  }
}

std::string js_value(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Js)) return *safe;
  const Result<std::string> json = to_json(value);
  if (!json) return " /* " + js_text(json.error().message(), "") + " */null ";
  if (json->empty()) return "\"\"";
  const bool padded = is_js_word(json->front()) || is_js_word(json->back());
  return padded ? " " + *json + " " : *json;
}

std::string js_string(const TemplateValue& value) { return js_text(shown(value), ""); }
std::string js_template_literal(const TemplateValue& value) { return js_text(shown(value), "${}"); }

std::string js_regexp(const TemplateValue& value) {
  const std::string out = js_text(shown(value), "$()*-.?[]^{|}");
  return out.empty() ? "(?:)" : out;
}

std::string css_string(const TemplateValue& value) {
  const std::string s = shown(value);
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool special =
        std::string_view("\t\n\f\r\"&'()+/:;<>{}").find(c) != std::string_view::npos || c == '\0';
    if (c == '\\') {
      out += "\\\\";
    } else if (!special) {
      out.push_back(c);
    } else {
      out += fmt::format("\\{:x}", static_cast<unsigned char>(c));
      const char next = i + 1 < s.size() ? s[i + 1] : '\0';
      if (is_hex(next) || next == ' ' || next == '\t' || next == '\n' || next == '\f' ||
          next == '\r')
        out.push_back(' ');
    }
  }
  return out;
}

std::string css_value(const TemplateValue& value) {
  if (const std::string* safe = as_safe(value, SafeKind::Css)) return *safe;
  const std::string decoded = decode_css(shown(value));
  std::string word;
  for (size_t i = 0; i < decoded.size(); ++i) {
    const char c = decoded[i];
    if (c == '\0' || std::string_view("\"'()/;@[\\]`{}<>").find(c) != std::string_view::npos)
      return std::string(kFailsafe);
    if (c == '-' && i > 0 && decoded[i - 1] == '-') return std::string(kFailsafe);
    if (is_alnum(c) || c == '-' || c == '_') word.push_back(c);
  }
  word = to_lower(word);
  const bool bad = word.find("expression") != std::string::npos ||
                   word.find("mozbinding") != std::string::npos ||
                   word.find("moz-binding") != std::string::npos;
  return bad ? std::string(kFailsafe) : decoded;
}

}  // namespace vagt::tmpl::html
