// Where in an HTML document a byte stands, as Go's html/template tells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vagt::tmpl::html {

enum class State : uint8_t {
  Text,
  Tag,
  AttrName,
  AfterName,
  BeforeValue,
  Comment,
  RcData,
  Attr,
  Url,
  Srcset,
  Js,
  JsDqStr,
  JsSqStr,
  JsTmplLit,
  JsRegexp,
  JsBlockCmt,
  JsLineCmt,
  Css,
  CssDqStr,
  CssSqStr,
  CssDqUrl,
  CssSqUrl,
  CssUrl,
  CssBlockCmt,
  CssLineCmt,
  Error,
  Dead,  // behind a break or continue
};
enum class Delim : uint8_t { None, DoubleQuote, SingleQuote, SpaceOrTagEnd };
enum class UrlPart : uint8_t { None, PreQuery, QueryOrFrag, Unknown };
enum class JsCtx : uint8_t { Regexp, DivOp, Unknown };
enum class Attr : uint8_t { None, Script, ScriptType, Style, Url, Srcset };
enum class Element : uint8_t { None, Script, Style, Textarea, Title };

struct Context {
  State state = State::Text;
  Delim delim = Delim::None;
  UrlPart url_part = UrlPart::None;
  JsCtx js_ctx = JsCtx::Regexp;
  Attr attr = Attr::None;
  Element element = Element::None;
  std::string error;

  friend bool operator==(const Context&, const Context&) = default;
  // As Go prints it in messages, and unique per context.
  std::string describe() const;
  static Context failed(std::string message);
};

constexpr bool is_comment(State s) {
  return s == State::Comment || s == State::JsBlockCmt || s == State::JsLineCmt ||
         s == State::CssBlockCmt || s == State::CssLineCmt;
}

// The context behind some first bytes of `text` (not empty), and how many these were.
Context after_text(const Context& context, std::string_view text, size_t& read);
// What an action at this place would fill: a value, a name.
Context nudge(Context context);
// The one context two branches may both end in; Error when there is none.
Context join(const Context& a, const Context& b, std::string_view node_name);

enum class AttrType : uint8_t { Plain, Css, Html, Js, Url, Srcset, Unsafe };
AttrType attr_type(std::string_view lower_name);

}  // namespace vagt::tmpl::html
