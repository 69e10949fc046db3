// Template text to tokens, as Go's text/template/parse splits it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vagt::tmpl {

enum class Token : uint8_t {
  Error,  // text is the message
  Eof,
  Text,
  LeftDelim,
  RightDelim,
  Space,
  Bool,
  Char,
  CharConstant,
  Number,
  String,
  RawString,
  Identifier,
  Field,     // .name
  Variable,  // $name
  Dot,
  Pipe,
  Assign,
  Declare,
  LeftParen,
  RightParen,
  Nil,
  // keywords
  Block,
  Break,
  Continue,
  Define,
  Else,
  End,
  If,
  Range,
  Template,
  With,
};

struct Item {
  Token type = Token::Eof;
  uint32_t pos = 0;  // byte offset in the text
  std::string text;
};

// All tokens up to Eof or the first Error. Comments are left out, trimmed text is already trimmed.
std::vector<Item> lex(std::string_view text);

// Go's name for a token in messages: `"|"`, `<range>`, `EOF`.
std::string describe(const Item& item);

}  // namespace vagt::tmpl
