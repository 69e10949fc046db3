#include "template/html_script.h"

#include <set>

#include "base/labels.h"
#include "template/unicode.h"

namespace vagt::tmpl::html {
namespace {

constexpr std::string_view kSpaces = " \t\n\f\r";
constexpr size_t kNone = std::string_view::npos;

bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
bool is_word(char c) {
  return c == '$' || c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

// Whether a slash behind `s` begins a regular expression or divides.
JsCtx next_js_ctx(std::string_view s, JsCtx before) {
  static const std::set<std::string_view> kKeywords = {
      "break", "case",       "continue", "delete", "do",  "else",   "finally",
      "in",    "instanceof", "return",   "throw",  "try", "typeof", "void"};
  const size_t last = s.find_last_not_of(" \t\n\f\r");
  if (last == kNone) return before;
  s = s.substr(0, last + 1);
  const char c = s.back();
  if (c == '+' || c == '-') {
    const size_t other = s.find_last_not_of(c);
    const size_t run = other == kNone ? s.size() : s.size() - other - 1;
    return run % 2 == 1 ? JsCtx::Regexp : JsCtx::DivOp;
  }
  if (c == '.') {
    const bool digit = s.size() > 1 && s[s.size() - 2] >= '0' && s[s.size() - 2] <= '9';
    return digit ? JsCtx::DivOp : JsCtx::Regexp;
  }
  if (std::string_view(",<>=*%&|^?!~([:;{}").find(c) != kNone) return JsCtx::Regexp;
  size_t start = s.size();
  while (start > 0 && is_word(s[start - 1])) --start;
  return kKeywords.count(s.substr(start)) != 0 ? JsCtx::Regexp : JsCtx::DivOp;
}

Context in_js(Context c, std::string_view s, size_t& read) {
  const size_t i = s.find_first_of("\"`'/");
  read = s.size();
  c.js_ctx = next_js_ctx(s.substr(0, std::min(i, s.size())), c.js_ctx);
  if (i == kNone) return c;
  read = i + 1;
  const char next = i + 1 < s.size() ? s[i + 1] : '\0';
  if (s[i] == '"' || s[i] == '\'' || s[i] == '`') {
    c.state = s[i] == '"' ? State::JsDqStr : s[i] == '\'' ? State::JsSqStr : State::JsTmplLit;
    c.js_ctx = JsCtx::Regexp;
  } else if (next == '/' || next == '*') {
    c.state = next == '/' ? State::JsLineCmt : State::JsBlockCmt;
    ++read;
  } else if (c.js_ctx == JsCtx::Regexp) {
    c.state = State::JsRegexp;
  } else if (c.js_ctx == JsCtx::DivOp) {
    c.js_ctx = JsCtx::Regexp;
  } else {
    return Context::failed("'/' could start a division or regexp: " + quote(s.substr(i, 32)));
  }
  return c;
}

Context in_js_literal(Context c, std::string_view s, size_t& read) {
  const std::string_view specials = c.state == State::JsDqStr     ? "\\\""
                                    : c.state == State::JsSqStr   ? "\\'"
                                    : c.state == State::JsTmplLit ? "\\`"
                                                                  : "\\/[]";
  bool in_set = false;
  read = s.size();
  for (size_t i = s.find_first_of(specials); i != kNone; i = s.find_first_of(specials, i + 1)) {
    if (s[i] == '\\') {
      if (++i == s.size())
        return Context::failed("unfinished escape sequence in JS string: " + quote(s));
    } else if (s[i] == '[') {
      in_set = true;
    } else if (s[i] == ']') {
      in_set = false;
    } else if (!in_set) {
      c.state = State::Js;
      c.js_ctx = JsCtx::DivOp;
      read = i + 1;
      return c;
    }
  }
  if (in_set) return Context::failed("unfinished JS regexp charset: " + quote(s));
  return c;
}

Context in_block_comment(Context c, std::string_view s, size_t& read) {
  const size_t i = s.find("*/");
  read = i == kNone ? s.size() : i + 2;
  if (i != kNone) c.state = c.state == State::JsBlockCmt ? State::Js : State::Css;
  return c;
}

Context in_line_comment(Context c, std::string_view s, size_t& read) {
  const size_t i = s.find_first_of(c.state == State::JsLineCmt ? "\n\r" : "\n\f\r");
  read = i == kNone ? s.size() : i;
  if (i != kNone) c.state = c.state == State::JsLineCmt ? State::Js : State::Css;
  return c;
}

bool ends_with_url(std::string_view s) {
  const size_t last = s.find_last_not_of(kSpaces);
  if (last == kNone || last < 2) return false;
  s = s.substr(0, last + 1);
  for (size_t i = 0; i < 3; ++i) {
    if ((s[s.size() - 3 + i] | 32) != "url"[i]) return false;
  }
  return s.size() == 3 || !(is_word(s[s.size() - 4]) || s[s.size() - 4] == '-');
}

Context in_css(Context c, std::string_view s, size_t& read) {
  read = s.size();
  for (size_t i = s.find_first_of("(\"'/"); i != kNone; i = s.find_first_of("(\"'/", i + 1)) {
    const char next = i + 1 < s.size() ? s[i + 1] : '\0';
    if (s[i] == '(' && ends_with_url(s.substr(0, i))) {
      const size_t j = std::min(s.find_first_not_of(kSpaces, i + 1), s.size());
      const char mark = j < s.size() ? s[j] : '\0';
      c.state = mark == '"' ? State::CssDqUrl : mark == '\'' ? State::CssSqUrl : State::CssUrl;
      read = c.state == State::CssUrl ? j : j + 1;
      return c;
    }
    if (s[i] == '/' && (next == '/' || next == '*')) {
      c.state = next == '/' ? State::CssLineCmt : State::CssBlockCmt;
      read = i + 2;
      return c;
    }
    if (s[i] == '"' || s[i] == '\'') {
      c.state = s[i] == '"' ? State::CssDqStr : State::CssSqStr;
      read = i + 1;
      return c;
    }
  }
  return c;
}

Context in_css_string(Context c, std::string_view s, size_t& read) {
  const bool dq = c.state == State::CssDqStr || c.state == State::CssDqUrl;
  const bool sq = c.state == State::CssSqStr || c.state == State::CssSqUrl;
  const std::string_view ends = dq ? "\\\"" : sq ? "\\'" : "\\\t\n\f\r )";
  size_t k = 0, unused = 0;
  while (true) {
    size_t i = s.find_first_of(ends, k);
    if (i == kNone) {
      read = s.size();
      return in_url(c, decode_css(s.substr(k)), unused);
    }
    if (s[i] == '\\') {
      if (++i == s.size())
        return Context::failed("unfinished escape sequence in CSS string: " + quote(s));
    } else {
      c.state = State::Css;
      read = i + 1;
      return c;
    }
    c = in_url(c, decode_css(s.substr(0, i + 1)), unused);
    k = i + 1;
  }
}

}  // namespace

Context in_url(Context c, std::string_view s, size_t& read) {
  read = s.size();
  if (s.find_first_of("#?") != kNone) {
    c.url_part = UrlPart::QueryOrFrag;
  } else if (s.find_first_not_of(kSpaces) != kNone && c.url_part == UrlPart::None) {
    c.url_part = UrlPart::PreQuery;
  }
  return c;
}

Context in_script_or_style(Context c, std::string_view s, size_t& read) {
  switch (c.state) {
    case State::Js:
      return in_js(c, s, read);
    case State::JsDqStr:
    case State::JsSqStr:
    case State::JsTmplLit:
    case State::JsRegexp:
      return in_js_literal(c, s, read);
    case State::JsBlockCmt:
    case State::CssBlockCmt:
      return in_block_comment(c, s, read);
    case State::JsLineCmt:
    case State::CssLineCmt:
      return in_line_comment(c, s, read);
    case State::Css:
      return in_css(c, s, read);
    default:
      return in_css_string(c, s, read);
  }
}

std::string decode_css(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      if (s[i] != '\\') out.push_back(s[i]);
      continue;
    }
    if (!is_hex(s[i + 1])) {
      out.push_back(s[++i]);
      continue;
    }
    char32_t rune = 0;
    size_t j = i + 1;
    for (; j < s.size() && j < i + 7 && is_hex(s[j]); ++j) {
      rune = rune * 16 + static_cast<char32_t>(s[j] <= '9' ? s[j] - '0' : (s[j] | 32) - 'a' + 10);
    }
    if (rune > 0x10ffff) rune /= 16, --j;
    append_utf8(out, rune);
    if (s.substr(j).starts_with("\r\n"))
      j += 2;
    else if (j < s.size() && kSpaces.find(s[j]) != kNone)
      ++j;
    i = j - 1;
  }
  return out;
}

}  // namespace vagt::tmpl::html
