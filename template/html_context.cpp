#include "template/html_context.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/labels.h"
#include "template/html_entities.h"
#include "template/html_script.h"

namespace vagt::tmpl::html {
namespace {

constexpr std::string_view kSpaces = " \t\n\f\r";

bool is_space(char c) { return kSpaces.find(c) != std::string_view::npos; }
bool is_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
bool is_alnum(char c) { return is_alpha(c) || (c >= '0' && c <= '9'); }
std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}
size_t skip_spaces(std::string_view s, size_t i) {
  while (i < s.size() && is_space(s[i])) ++i;
  return i;
}

// -- text and tags
// -----------------------------------------------------------------------------------------------------

Element element_of(std::string_view name) {
  const std::string word = lower(name);
  if (word == "script") return Element::Script;
  if (word == "style") return Element::Style;
  if (word == "textarea") return Element::Textarea;
  return word == "title" ? Element::Title : Element::None;
}

State content_state(Element element) {
  switch (element) {
    case Element::Script:
      return State::Js;
    case Element::Style:
      return State::Css;
    case Element::Textarea:
    case Element::Title:
      return State::RcData;
    default:
      return State::Text;
  }
}

size_t eat_tag_name(std::string_view s, size_t i) {
  if (i >= s.size() || !is_alpha(s[i])) return i;
  size_t j = i + 1;
  while (j < s.size() && (is_alnum(s[j]) ||
                          ((s[j] == ':' || s[j] == '-') && j + 1 < s.size() && is_alnum(s[j + 1]))))
    ++j;
  return j;
}

Context in_text(const Context& c, std::string_view s, size_t& read) {
  size_t k = 0;
  read = s.size();
  while (true) {
    size_t i = s.find('<', k);
    if (i == std::string_view::npos || i + 1 == s.size()) return c;
    if (s.substr(i).starts_with("<!--")) {
      read = i + 4;
      Context next;
      next.state = State::Comment;
      return next;
    }
    ++i;
    const bool closing = s[i] == '/';
    if (closing && ++i == s.size()) return c;
    const size_t j = eat_tag_name(s, i);
    if (j != i) {
      read = j;
      Context next;
      next.state = State::Tag;
      next.element = closing ? Element::None : element_of(s.substr(i, j - i));
      return next;
    }
    k = j;
  }
}

// The end of an attribute name; npos: a byte no name has.
size_t eat_attr_name(std::string_view s, size_t i) {
  for (size_t j = i; j < s.size(); ++j) {
    const char c = s[j];
    if (is_space(c) || c == '=' || c == '>') return j;
    if (c == '\'' || c == '"' || c == '<') return std::string_view::npos;
  }
  return s.size();
}

Context bad_attr_name(std::string_view s) {
  return Context::failed(
      fmt::format("{} in attribute name: {}", quote(s.substr(0, 1)), quote(s.substr(0, 32))));
}

Context in_tag(const Context& c, std::string_view s, size_t& read) {
  const size_t i = skip_spaces(s, 0);
  read = s.size();
  if (i == s.size()) return c;
  if (s[i] == '>') {
    read = i + 1;
    Context next;
    next.state = content_state(c.element);
    next.element = next.state == State::Text ? Element::None : c.element;
    return next;
  }
  const size_t j = eat_attr_name(s, i);
  if (j == std::string_view::npos) return bad_attr_name(s.substr(i));
  if (i == j) {
    return Context::failed(fmt::format("expected space, attr name, or end of tag, but got {}",
                                       quote(s.substr(i, 32))));
  }
  const std::string name = lower(s.substr(i, j - i));
  Context next;
  next.element = c.element;
  next.state = j == s.size() ? State::AttrName : State::AfterName;
  if (c.element == Element::Script && name == "type") {
    next.attr = Attr::ScriptType;
  } else {
    switch (attr_type(name)) {
      case AttrType::Url:
        next.attr = Attr::Url;
        break;
      case AttrType::Css:
        next.attr = Attr::Style;
        break;
      case AttrType::Js:
        next.attr = Attr::Script;
        break;
      case AttrType::Srcset:
        next.attr = Attr::Srcset;
        break;
      default:
        break;
    }
  }
  read = j;
  return next;
}

Context in_attr_name(Context c, std::string_view s, size_t& read) {
  const size_t i = eat_attr_name(s, 0);
  read = s.size();
  if (i == std::string_view::npos) return bad_attr_name(s);
  if (i != s.size()) c.state = State::AfterName;
  read = i;
  return c;
}

Context in_after_name(Context c, std::string_view s, size_t& read) {
  const size_t i = skip_spaces(s, 0);
  read = i;
  if (i == s.size()) return c;
  if (s[i] != '=') {
    c.state = State::Tag;
    return c;
  }
  c.state = State::BeforeValue;
  read = i + 1;
  return c;
}

State attr_start(Attr attr) {
  switch (attr) {
    case Attr::Script:
      return State::Js;
    case Attr::Style:
      return State::Css;
    case Attr::Url:
      return State::Url;
    case Attr::Srcset:
      return State::Srcset;
    default:
      return State::Attr;
  }
}

Context in_before_value(Context c, std::string_view s, size_t& read) {
  size_t i = skip_spaces(s, 0);
  read = i;
  if (i == s.size()) return c;
  c.delim = s[i] == '\''  ? Delim::SingleQuote
            : s[i] == '"' ? Delim::DoubleQuote
                          : Delim::SpaceOrTagEnd;
  if (c.delim != Delim::SpaceOrTagEnd) ++i;
  c.state = attr_start(c.attr);
  read = i;
  return c;
}

Context in_comment(const Context& c, std::string_view s, size_t& read) {
  const size_t i = s.find("-->");
  read = i == std::string_view::npos ? s.size() : i + 3;
  return i == std::string_view::npos ? c : Context();
}

Context transition(const Context& c, std::string_view s, size_t& read) {
  switch (c.state) {
    case State::Text:
      return in_text(c, s, read);
    case State::Tag:
      return in_tag(c, s, read);
    case State::AttrName:
      return in_attr_name(c, s, read);
    case State::AfterName:
      return in_after_name(c, s, read);
    case State::BeforeValue:
      return in_before_value(c, s, read);
    case State::Comment:
      return in_comment(c, s, read);
    case State::Url:
    case State::Srcset:
      return in_url(c, s, read);
    case State::RcData:
    case State::Attr:
    case State::Error:
    case State::Dead:
      read = s.size();
      return c;
    default:
      return in_script_or_style(c, s, read);
  }
}

// Where `</script` or its like begins; npos when it does not.
size_t special_end(Element element, std::string_view s) {
  static constexpr std::string_view kNames[] = {"", "script", "style", "textarea", "title"};
  const std::string_view name = kNames[static_cast<int>(element)];
  for (size_t i = s.find("</"); i != std::string_view::npos; i = s.find("</", i + 2)) {
    const std::string_view rest = s.substr(i + 2);
    if (rest.size() <= name.size() || lower(rest.substr(0, name.size())) != name) continue;
    const char end = rest[name.size()];
    if (is_space(end) || end == '/' || end == '>') return i;
  }
  return std::string_view::npos;
}

bool is_js_type(std::string_view type) {
  static const std::set<std::string, std::less<>> kTypes = {"",
                                                            "application/ecmascript",
                                                            "application/javascript",
                                                            "application/json",
                                                            "application/ld+json",
                                                            "application/x-ecmascript",
                                                            "application/x-javascript",
                                                            "module",
                                                            "text/ecmascript",
                                                            "text/javascript",
                                                            "text/x-ecmascript",
                                                            "text/x-javascript",
                                                            "text/livescript",
                                                            "text/jscript"};
  std::string word = lower(type.substr(0, type.find(';')));
  while (!word.empty() && is_space(word.back())) word.pop_back();
  word.erase(0, skip_spaces(word, 0));
  return kTypes.count(word) != 0;
}

Context in_value(Context c, std::string_view s, size_t& read) {
  constexpr std::string_view kEnds[] = {"", "\"", "'", " \t\n\f\r>"};
  const size_t end = std::min(s.find_first_of(kEnds[static_cast<int>(c.delim)]), s.size());
  if (c.delim == Delim::SpaceOrTagEnd &&
      s.substr(0, end).find_first_of("\"'<=`") != std::string_view::npos) {
    return Context::failed(
        fmt::format("{} in unquoted attr: {}", "special character", quote(s.substr(0, end))));
  }
  if (end == s.size()) {
    const std::string decoded = decode_entities(s);
    std::string_view rest = decoded;
    while (!rest.empty()) {
      size_t n = 0;
      c = transition(c, rest, n);
      if (c.state == State::Error) return c;
      rest.remove_prefix(n);
    }
    read = s.size();
    return c;
  }
  Context next;
  next.state = State::Tag;
  const bool other_script = c.state == State::Attr && c.element == Element::Script &&
                            c.attr == Attr::ScriptType && !is_js_type(s.substr(0, end));
  next.element = other_script ? Element::None : c.element;
  read = c.delim == Delim::SpaceOrTagEnd ? end : end + 1;
  return next;
}

}  // namespace

std::string Context::describe() const {
  static constexpr const char* kStates[] = {
      "stateText",       "stateTag",       "stateAttrName", "stateAfterName",   "stateBeforeValue",
      "stateHTMLCmt",    "stateRCDATA",    "stateAttr",     "stateURL",         "stateSrcset",
      "stateJS",         "stateJSDqStr",   "stateJSSqStr",  "stateJSTmplLit",   "stateJSRegexp",
      "stateJSBlockCmt", "stateJSLineCmt", "stateCSS",      "stateCSSDqStr",    "stateCSSSqStr",
      "stateCSSDqURL",   "stateCSSSqURL",  "stateCSSURL",   "stateCSSBlockCmt", "stateCSSLineCmt",
      "stateError",      "stateDead"};
  static constexpr const char* kDelims[] = {"delimNone", "delimDoubleQuote", "delimSingleQuote",
                                            "delimSpaceOrTagEnd"};
  static constexpr const char* kParts[] = {"urlPartNone", "urlPartPreQuery", "urlPartQueryOrFrag",
                                           "urlPartUnknown"};
  static constexpr const char* kJs[] = {"jsCtxRegexp", "jsCtxDivOp", "jsCtxUnknown"};
  static constexpr const char* kAttrs[] = {"attrNone",  "attrScript", "attrScriptType",
                                           "attrStyle", "attrURL",    "attrSrcset"};
  static constexpr const char* kElements[] = {"elementNone", "elementScript", "elementStyle",
                                              "elementTextarea", "elementTitle"};
  return fmt::format("{{{} {} {} {} {} {} <nil>}}", kStates[static_cast<int>(state)],
                     kDelims[static_cast<int>(delim)], kParts[static_cast<int>(url_part)],
                     kJs[static_cast<int>(js_ctx)], kAttrs[static_cast<int>(attr)],
                     kElements[static_cast<int>(element)]);
}

Context Context::failed(std::string message) {
  Context c;
  c.state = State::Error;
  c.error = std::move(message);
  return c;
}

Context after_text(const Context& c, std::string_view s, size_t& read) {
  read = s.size();
  if (c.state == State::Error || c.state == State::Dead) return c;
  if (c.delim != Delim::None) return in_value(c, s, read);
  // Comments in a script end with the script too; an attribute of <script …> does not.
  const bool raw = c.element != Element::None && c.state != State::Tag &&
                   c.state != State::AttrName && c.state != State::AfterName &&
                   c.state != State::BeforeValue;
  const size_t end = raw ? special_end(c.element, s) : std::string_view::npos;
  if (end == 0) {
    read = 0;
    return {};
  }
  return transition(c, s.substr(0, std::min(end, s.size())), read);
}

Context nudge(Context c) {
  if (c.state == State::Tag) {
    c.state = State::AttrName;
  } else if (c.state == State::BeforeValue) {
    c.state = attr_start(c.attr);
    c.delim = Delim::SpaceOrTagEnd;
    c.attr = Attr::None;
  } else if (c.state == State::AfterName) {
    c.state = State::AttrName;
    c.attr = Attr::None;
  }
  return c;
}

Context join(const Context& a, const Context& b, std::string_view node_name) {
  if (a.state == State::Error || b.state == State::Dead) return a;
  if (b.state == State::Error || a.state == State::Dead) return b;
  if (a == b) return a;
  Context c = a;
  c.url_part = b.url_part;
  if (c == b) {
    c.url_part = UrlPart::Unknown;
    return c;
  }
  c = a;
  c.js_ctx = b.js_ctx;
  if (c == b) {
    c.js_ctx = JsCtx::Unknown;
    return c;
  }
  const Context x = nudge(a), y = nudge(b);
  if (!(x == a && y == b)) {
    const Context e = join(x, y, node_name);
    if (e.state != State::Error) return e;
  }
  return Context::failed(fmt::format("{{{{{}}}}} branches end in different contexts: {}, {}",
                                     node_name, a.describe(), b.describe()));
}

AttrType attr_type(std::string_view name) {
  static const std::map<std::string_view, AttrType> kKnown = {{"action", AttrType::Url},
                                                              {"archive", AttrType::Url},
                                                              {"background", AttrType::Url},
                                                              {"cite", AttrType::Url},
                                                              {"classid", AttrType::Url},
                                                              {"codebase", AttrType::Url},
                                                              {"data", AttrType::Url},
                                                              {"formaction", AttrType::Url},
                                                              {"href", AttrType::Url},
                                                              {"icon", AttrType::Url},
                                                              {"longdesc", AttrType::Url},
                                                              {"manifest", AttrType::Url},
                                                              {"poster", AttrType::Url},
                                                              {"profile", AttrType::Url},
                                                              {"src", AttrType::Url},
                                                              {"usemap", AttrType::Url},
                                                              {"xmlns", AttrType::Url},
                                                              {"srcset", AttrType::Srcset},
                                                              {"style", AttrType::Css},
                                                              {"srcdoc", AttrType::Html},
                                                              {"accept-charset", AttrType::Unsafe},
                                                              {"async", AttrType::Unsafe},
                                                              {"charset", AttrType::Unsafe},
                                                              {"challenge", AttrType::Unsafe},
                                                              {"content", AttrType::Unsafe},
                                                              {"crossorigin", AttrType::Unsafe},
                                                              {"defer", AttrType::Unsafe},
                                                              {"enctype", AttrType::Unsafe},
                                                              {"form", AttrType::Unsafe},
                                                              {"formenctype", AttrType::Unsafe},
                                                              {"formmethod", AttrType::Unsafe},
                                                              {"formnovalidate", AttrType::Unsafe},
                                                              {"http-equiv", AttrType::Unsafe},
                                                              {"keytype", AttrType::Unsafe},
                                                              {"language", AttrType::Unsafe},
                                                              {"method", AttrType::Unsafe},
                                                              {"novalidate", AttrType::Unsafe},
                                                              {"pattern", AttrType::Unsafe},
                                                              {"rel", AttrType::Unsafe},
                                                              {"sandbox", AttrType::Unsafe},
                                                              {"type", AttrType::Unsafe},
                                                              {"value", AttrType::Unsafe}};
  if (name.starts_with("data-")) {
    name.remove_prefix(5);
  } else if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    if (name.substr(0, colon) == "xmlns") return AttrType::Url;
    name.remove_prefix(colon + 1);
  }
  const auto known = kKnown.find(name);
  if (known != kKnown.end()) return known->second;
  if (name.starts_with("on")) return AttrType::Js;
  for (const std::string_view part : {"src", "uri", "url"}) {
    if (name.find(part) != std::string_view::npos) return AttrType::Url;
  }
  return AttrType::Plain;
}

}  // namespace vagt::tmpl::html
