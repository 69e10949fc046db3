// Text to tokens. Rules of the cuts that are not obvious:
//  - inside braces every word is an identifier and nothing is a number;
//  - inside brackets words are not identifiers: only step, range, min_of and max_of mean something
//  there;
//  - fill, fill_left and fill_right are keywords only before a parenthesis, so that metrics may be
//  called so.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/labels.h"
#include "query/parse/scan.h"
#include "query/parse/tokens.h"

namespace vagt::query::syntax {
namespace {

// Stops at the first token that cannot be cut: the parser may find a fault before it, and that one
// is reported.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  TokenList run();

 private:
  // Each reads one token or space; false: an Error or the end was put.
  bool step_outside();
  bool step_braces();
  bool step_operator(int32_t c);
  bool step_bracket_word();
  bool step_duration();
  bool read_word();
  bool read_number();
  bool read_string();
  bool open_bracket();
  bool open_paren();
  bool close_paren();
  bool end_of_text();
  void skip_comment();

  bool put(Kind kind, size_t length) {
    list_.tokens.push_back(
        {kind, static_cast<uint32_t>(pos_), static_cast<uint32_t>(pos_ + length)});
    pos_ += length;
    return true;
  }
  bool fail(std::string message) { return fail_at(pos_, std::move(message)); }
  bool fail_at(size_t pos, std::string message) {
    list_.tokens.push_back(
        {Kind::Error, static_cast<uint32_t>(pos), static_cast<uint32_t>(text_.size())});
    list_.error = std::move(message);
    return false;
  }
  int32_t at(size_t ahead) const { return byte_at(text_, pos_ + ahead); }
  int32_t rune(size_t ahead) const { return rune_at(text_, pos_ + ahead).value; }

  std::string_view text_;
  size_t pos_ = 0;
  TokenList list_;
  size_t parens_ = 0;
  bool in_braces_ = false;
  bool in_brackets_ = false;
  bool in_duration_ = false;  // in brackets, no number read since the last operator
  bool seen_colon_ = false;
  bool seen_duration_ = false;
};

TokenList Lexer::run() {
  while (in_braces_ ? step_braces() : in_duration_ ? step_duration() : step_outside()) {
  }
  return std::move(list_);
}

void Lexer::skip_comment() {
  while (pos_ < text_.size() && text_[pos_] != '\n' && text_[pos_] != '\r') ++pos_;
}

bool Lexer::end_of_text() {
  if (parens_ > 0) return fail("unclosed left parenthesis");
  if (in_brackets_) return fail("unclosed left bracket");
  put(Kind::Eof, 0);
  return false;
}

bool Lexer::step_outside() {
  const int32_t c = at(0);
  if (c == kEnd) return end_of_text();
  if (is_space(c)) return ++pos_, true;
  if (c == '#') return skip_comment(), true;
  if (is_digit(c) || (c == '.' && is_digit(at(1)))) return read_number();
  if (is_letter(c) || c == ':') return in_brackets_ ? step_bracket_word() : read_word();
  switch (c) {
    case '"':
    case '\'':
    case '`':
      return read_string();
    case '(':
      return open_paren();
    case ')':
      return close_paren();
    case '{':
      in_braces_ = true;
      return put(Kind::LeftBrace, 1);
    case '[':
      return open_bracket();
    case ']':
      if (!in_brackets_) return fail("unexpected right bracket ']'");
      in_brackets_ = false;
      return put(Kind::RightBracket, 1);
    case '@':
      return put(Kind::At, 1);
    case ',':
      return put(Kind::Comma, 1);
    default:
      return step_operator(c);
  }
}

bool Lexer::step_operator(int32_t c) {
  const bool then_equal = at(1) == '=';
  switch (c) {
    case '+':
      return put(Kind::Add, 1);
    case '-':
      return put(Kind::Sub, 1);
    case '*':
      return put(Kind::Mul, 1);
    case '/':
      return put(Kind::Div, 1);
    case '%':
      return put(Kind::Mod, 1);
    case '^':
      return put(Kind::Pow, 1);
    case '=':
      if (at(1) == '~') return fail("unexpected character after '=': '~'");
      return then_equal ? put(Kind::Equal, 2) : put(Kind::Assign, 1);
    case '!':
      if (!then_equal) return fail("unexpected character after '!': " + quote_rune(rune(1)));
      return put(Kind::NotEqual, 2);
    case '<':
      return then_equal ? put(Kind::LessEqual, 2) : put(Kind::Less, 1);
    case '>':
      return then_equal ? put(Kind::GreaterEqual, 2) : put(Kind::Greater, 1);
    default:
      return fail("unexpected character: " + quote_rune(rune(0)));
  }
}

bool Lexer::open_paren() {
  list_.max_nesting = std::max(list_.max_nesting, ++parens_);
  return put(Kind::LeftParen, 1);
}

bool Lexer::close_paren() {
  if (parens_ == 0) return fail_at(pos_ + 1, "unexpected right parenthesis ')'");
  --parens_;
  return put(Kind::RightParen, 1);
}

bool Lexer::open_bracket() {
  if (in_brackets_) return fail("unexpected left bracket '['");
  seen_colon_ = false;
  in_brackets_ = in_duration_ = true;
  return put(Kind::LeftBracket, 1);
}

bool Lexer::read_word() {
  size_t length = 0;
  while (is_word(at(length)) || at(length) == ':') ++length;
  const std::string_view word = text_.substr(pos_, length);
  Kind kind = word_kind(word);
  if (kind == Kind::Fill || kind == Kind::FillLeft || kind == Kind::FillRight) {
    const size_t next = text_.find_first_not_of(" \t\r\n", pos_ + length);
    if (next == std::string_view::npos || text_[next] != '(') kind = Kind::Identifier;
  }
  if (kind == Kind::Identifier && word.find(':') != std::string_view::npos)
    kind = Kind::MetricIdentifier;
  return put(kind, length);
}

bool Lexer::read_number() {
  size_t end = pos_;
  const NumberKind kind = scan_number(text_, end);
  if (kind == NumberKind::Bad)
    return fail("bad number or duration syntax: " + quote(text_.substr(pos_, end - pos_)));
  in_duration_ = false;
  return put(kind == NumberKind::Number ? Kind::Number : Kind::Duration, end - pos_);
}

bool Lexer::read_string() {
  size_t end = pos_;
  if (std::string wrong = scan_string(text_, end); !wrong.empty()) return fail(std::move(wrong));
  return put(Kind::String, end - pos_);
}

// A word or colon in brackets, behind a number.
bool Lexer::step_bracket_word() {
  if (at(0) == ':') {
    if (seen_colon_) return fail("unexpected colon ':'");
    seen_colon_ = true;
    return put(Kind::Colon, 1);
  }
  size_t length = 0;
  while (is_letter(at(length))) ++length;
  const Kind kind = word_kind(text_.substr(pos_, length));
  if (kind < Kind::Step)
    return fail(fmt::format("unexpected character: {}, expected ':'", quote_rune(at(0))));
  return put(kind, length);
}

bool Lexer::step_duration() {
  const int32_t c = at(0);
  if (is_space(c)) return ++pos_, true;
  if (is_digit(c) || (c == '.' && is_digit(at(1)))) {
    seen_duration_ = true;
    return read_number();
  }
  if (is_letter(c)) {
    size_t length = 0;
    while (is_letter(at(length))) ++length;
    const Kind kind = word_kind(text_.substr(pos_, length));
    if (kind >= Kind::Step && kind <= Kind::MaxOf) return put(kind, length);
  }
  switch (c) {
    case kEnd:
      return fail("unexpected end of input in duration expression");
    case ']':
      in_brackets_ = in_duration_ = seen_colon_ = false;
      return put(Kind::RightBracket, 1);
    case ':':
      if (!seen_duration_)
        return fail_at(pos_ + 1, "unexpected colon before duration in duration expression");
      if (seen_colon_) return fail_at(pos_ + 1, "unexpected repeated colon in duration expression");
      seen_colon_ = true;
      return put(Kind::Colon, 1);
    case '(':
      return open_paren();
    case ')':
      return close_paren();
    case ',':
      return put(Kind::Comma, 1);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '^':
      return step_operator(c);
    default:
      return fail("unexpected character in duration expression: " + quote_rune(rune(0)));
  }
}

bool Lexer::step_braces() {
  const int32_t c = at(0);
  if (c == kEnd) return fail("unexpected end of input inside braces");
  if (is_space(c)) return ++pos_, true;
  if (c == '#') return skip_comment(), true;
  if (is_letter(c)) {
    size_t length = 0;
    while (is_word(at(length))) ++length;
    return put(Kind::Identifier, length);
  }
  switch (c) {
    case ',':
      return put(Kind::Comma, 1);
    case '"':
    case '\'':
    case '`':
      return read_string();
    case '=':
      return at(1) == '~' ? put(Kind::MatchRegex, 2) : put(Kind::Assign, 1);
    case '!':
      if (at(1) == '~') return put(Kind::MatchNotRegex, 2);
      if (at(1) == '=') return put(Kind::NotEqual, 2);
      return fail("unexpected character after '!' inside braces: " + quote_rune(rune(1)));
    case '{':
      return fail("unexpected left brace '{'");
    case '}':
      in_braces_ = false;
      return put(Kind::RightBrace, 1);
    default:
      return fail("unexpected character inside braces: " + quote_rune(rune(0)));
  }
}

}  // namespace

TokenList tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace vagt::query::syntax
