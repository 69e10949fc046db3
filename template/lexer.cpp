#include "template/lexer.h"

#include <fmt/core.h>

#include <map>

#include "base/labels.h"
#include "template/unicode.h"

namespace vagt::tmpl {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_space(char c) { return kSpaces.find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Item> run() {
    while (!done_) lex_text();
    return std::move(items_);
  }

 private:
  std::string_view rest() const { return text_.substr(pos_); }
  bool at(std::string_view prefix) const { return rest().starts_with(prefix); }
  char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

  void emit(Token type, size_t begin, std::string text) {
    items_.push_back({type, static_cast<uint32_t>(begin), std::move(text)});
  }
  void emit_from(Token type, size_t begin) {
    emit(type, begin, std::string(text_.substr(begin, pos_ - begin)));
  }
  void fail(size_t where, std::string message) {
    emit(Token::Error, where, std::move(message));
    done_ = true;
  }

  // Text up to the next "{{", then the action or comment behind it.
  void lex_text() {
    const size_t begin = pos_;
    const size_t delim = text_.find("{{", pos_);
    const size_t stop = delim == std::string_view::npos ? text_.size() : delim;
    const bool trims = delim != std::string_view::npos && left_marker(delim + 2);
    size_t end = stop;
    if (trims) {
      while (end > begin && is_space(text_[end - 1])) --end;
    }
    if (end > begin) emit(Token::Text, begin, std::string(text_.substr(begin, end - begin)));
    pos_ = stop;
    if (delim == std::string_view::npos) {
      emit(Token::Eof, pos_, "");
      done_ = true;
      return;
    }
    const size_t inside = delim + 2 + (trims ? 2 : 0);
    if (text_.substr(inside).starts_with("/*")) {
      pos_ = inside;
      lex_comment();
      return;
    }
    emit(Token::LeftDelim, delim, "{{");
    pos_ = inside;
    parens_ = 0;
    lex_action();
  }

  bool left_marker(size_t at) const {
    return at + 1 < text_.size() && text_[at] == '-' && is_space(text_[at + 1]);
  }
  // " -}}" or "}}" at pos_: its length, 0 when there is none.
  size_t right_delim() const {
    if (at("}}")) return 2;
    if (is_space(peek()) && text_.substr(pos_ + 1).starts_with("-}}")) return 4;
    return 0;
  }
  void trim_after(size_t delim_size) {
    pos_ += delim_size;
    if (delim_size != 4) return;
    while (pos_ < text_.size() && is_space(text_[pos_])) ++pos_;
  }

  void lex_comment() {
    const size_t begin = pos_;
    const size_t close = text_.find("*/", pos_ + 2);
    if (close == std::string_view::npos) return fail(begin, "unclosed comment");
    pos_ = close + 2;
    const size_t delim = right_delim();
    if (delim == 0) return fail(begin, "comment ends before closing delimiter");
    trim_after(delim);
  }

  void lex_action() {
    while (!done_) {
      const size_t delim = right_delim();
      if (delim != 0) {
        if (parens_ != 0) return fail(pos_, "unclosed left paren");
        emit(Token::RightDelim, pos_, "}}");
        trim_after(delim);
        return;
      }
      if (pos_ >= text_.size()) return fail(pos_, "unclosed action");
      lex_inside();
    }
  }

  void lex_inside() {
    const size_t begin = pos_;
    const char c = peek();
    if (is_space(c)) return lex_space();
    if (c == '"') return lex_quote();
    if (c == '`') return lex_raw();
    if (c == '\'') return lex_char();
    if (c == '$') return lex_name(Token::Variable);
    if (c == '.' && !(pos_ + 1 < text_.size() && is_digit(text_[pos_ + 1])))
      return lex_name(Token::Field);
    if (c == '.' || c == '+' || c == '-' || is_digit(c)) return lex_number();
    if (at(":=")) return single(Token::Declare, 2);
    if (c == ':') return fail(begin, "expected :=");
    if (c == '=') return single(Token::Assign, 1);
    if (c == '|') return single(Token::Pipe, 1);
    if (c == '(') return ++parens_, single(Token::LeftParen, 1);
    if (c == ')') {
      if (--parens_ < 0) return fail(begin, "unexpected right paren");
      return single(Token::RightParen, 1);
    }
    size_t size = 0;
    const char32_t rune = decode_utf8(rest(), size);
    if (is_name_rune(rune)) return lex_identifier();
    if (rune >= 0x20 && rune < 0x7f) return single(Token::Char, 1);
    fail(begin, fmt::format("unrecognized character in action: {}", describe_rune(rune)));
  }

  void single(Token type, size_t size) {
    const size_t begin = pos_;
    pos_ += size;
    emit_from(type, begin);
  }

  void lex_space() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && is_space(text_[pos_]) && right_delim() == 0) ++pos_;
    emit_from(Token::Space, begin);
  }

  void lex_quote() {
    const size_t begin = pos_++;
    while (pos_ < text_.size() && text_[pos_] != '\n') {
      const char c = text_[pos_++];
      if (c == '\\' && pos_ < text_.size() && text_[pos_] != '\n') {
        ++pos_;
      } else if (c == '"') {
        return emit_from(Token::String, begin);
      }
    }
    fail(begin, "unterminated quoted string");
  }

  void lex_raw() {
    const size_t begin = pos_;
    const size_t close = text_.find('`', pos_ + 1);
    if (close == std::string_view::npos) return fail(begin, "unterminated raw quoted string");
    pos_ = close + 1;
    emit_from(Token::RawString, begin);
  }

  void lex_char() {
    const size_t begin = pos_++;
    while (pos_ < text_.size() && text_[pos_] != '\n') {
      const char c = text_[pos_++];
      if (c == '\\' && pos_ < text_.size() && text_[pos_] != '\n') {
        ++pos_;
      } else if (c == '\'') {
        return emit_from(Token::CharConstant, begin);
      }
    }
    fail(begin, "unterminated character constant");
  }

  void skip_name() {
    while (pos_ < text_.size()) {
      size_t size = 0;
      if (!is_name_rune(decode_utf8(rest(), size))) return;
      pos_ += size;
    }
  }

  // What must follow a name; anything else is reported as the bad character.
  bool check_terminator(size_t begin) {
    const char c = peek();
    if (pos_ >= text_.size() || is_space(c) || at("}}") || c == '.' || c == ',' || c == '|' ||
        c == ':' || c == ')' || c == '(') {
      return true;
    }
    size_t size = 0;
    fail(begin, "bad character " + describe_rune(decode_utf8(rest(), size)));
    return false;
  }

  // A field or a variable; a lone "." is Dot, a lone "$" the root variable.
  void lex_name(Token type) {
    const size_t begin = pos_++;
    skip_name();
    if (!check_terminator(begin)) return;
    emit_from(type == Token::Field && pos_ == begin + 1 ? Token::Dot : type, begin);
  }

  void lex_identifier() {
    static const std::map<std::string_view, Token> kWords = {
        {"block", Token::Block},   {"break", Token::Break},       {"continue", Token::Continue},
        {"define", Token::Define}, {"else", Token::Else},         {"end", Token::End},
        {"if", Token::If},         {"range", Token::Range},       {"nil", Token::Nil},
        {"with", Token::With},     {"template", Token::Template}, {"true", Token::Bool},
        {"false", Token::Bool}};
    const size_t begin = pos_;
    skip_name();
    if (!check_terminator(begin)) return;
    const auto word = kWords.find(text_.substr(begin, pos_ - begin));
    emit_from(word == kWords.end() ? Token::Identifier : word->second, begin);
  }

  void lex_number() {
    const size_t begin = pos_;
    scan_number();
    size_t size = 0;
    const char32_t next = pos_ < text_.size() ? decode_utf8(rest(), size) : U' ';
    if (is_name_rune(next)) {
      pos_ += size;
      return fail(begin, "bad number syntax: " + quote(text_.substr(begin, pos_ - begin)));
    }
    emit_from(Token::Number, begin);
  }

  void accept_run(std::string_view set) {
    while (pos_ < text_.size() && set.find(text_[pos_]) != std::string_view::npos) ++pos_;
  }
  bool accept(std::string_view set) {
    if (pos_ >= text_.size() || set.find(text_[pos_]) == std::string_view::npos) return false;
    ++pos_;
    return true;
  }
  void scan_number() {
    accept("+-");
    std::string_view digits = "0123456789_";
    bool decimal = true;
    if (accept("0")) {
      if (accept("xX")) {
        digits = "0123456789abcdefABCDEF_", decimal = false;
      } else if (accept("oO")) {
        digits = "01234567_", decimal = false;
      } else if (accept("bB")) {
        digits = "01_", decimal = false;
      }
    }
    accept_run(digits);
    if (accept(".")) accept_run(digits);
    const bool exponent = decimal ? accept("eE") : digits.size() > 20 && accept("pP");
    if (exponent) {
      accept("+-");
      accept_run("0123456789_");
    }
    accept("i");
  }

  std::string_view text_;
  size_t pos_ = 0;
  int parens_ = 0;
  bool done_ = false;
  std::vector<Item> items_;
};

}  // namespace

std::vector<Item> lex(std::string_view text) { return Lexer(text).run(); }

std::string describe(const Item& item) {
  if (item.type == Token::Eof) return "EOF";
  if (item.type == Token::Error) return item.text;
  if (item.type >= Token::Block) return "<" + item.text + ">";
  if (item.text.size() > 10) return quote(item.text.substr(0, 10)) + "...";
  return quote(item.text);
}

}  // namespace vagt::tmpl
