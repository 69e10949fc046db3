// The words of PromQL, as Prometheus's lexer cuts them. Hand-written because the cuts depend on
// where the reader stands (inside braces, inside brackets) and because clients match on how its
// errors are worded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vagt::query::syntax {

enum class Kind : uint8_t {
  Eof,
  Error,
  Identifier,
  MetricIdentifier,  // has a colon: a metric name only
  Number,
  Duration,
  String,
  LeftParen,
  RightParen,
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  Comma,
  Colon,
  Assign,
  MatchRegex,
  MatchNotRegex,
  At,
  // Binary operators, in the order of BinaryOp.
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Atan2,
  Equal,
  NotEqual,
  Greater,
  Less,
  GreaterEqual,
  LessEqual,
  And,
  Or,
  Unless,
  // Aggregators, in the order of AggregateOp.
  Sum,
  Avg,
  Min,
  Max,
  Count,
  Group,
  Stddev,
  Stdvar,
  Topk,
  Bottomk,
  Quantile,
  CountValues,
  Limitk,
  LimitRatio,
  // Keywords.
  Bool,
  By,
  Without,
  On,
  Ignoring,
  GroupLeft,
  GroupRight,
  Fill,
  FillLeft,
  FillRight,
  Offset,
  Anchored,
  Smoothed,
  // Keywords that are also functions.
  Start,
  End,
  Step,
  Range,
  MinOf,
  MaxOf,
};
// The keyword that a word is, in any case of letters; Number for inf and nan; Identifier for all
// others.
Kind word_kind(std::string_view word);
constexpr bool is_binary_operator(Kind k) { return k >= Kind::Add && k <= Kind::Unless; }
constexpr bool is_aggregator(Kind k) { return k >= Kind::Sum && k <= Kind::LimitRatio; }
constexpr bool is_function_keyword(Kind k) { return k >= Kind::Start; }
// May stand where an expression begins, as a metric name.
bool is_metric_name(Kind k);
// May stand in by(), on() and their like, as a label name.
bool is_label_name(Kind k);

struct Token {
  Kind kind = Kind::Eof;
  uint32_t begin = 0, end = 0;  // bytes of the query; Error: where the lexer stood
};

struct TokenList {
  std::vector<Token>
      tokens;  // comments dropped; the last is Eof, or Error when the text cannot be cut further
  std::string error;       // of the Error token
  size_t max_nesting = 0;  // of parentheses
};
TokenList tokenize(std::string_view text);

// As error messages name a token: `identifier "foo"`, `<op:+>`, `"("`, `end of input`.
std::string describe(const Token& token, std::string_view text);

// The value of a string token, quotes and escapes taken off.
std::string unquote(std::string_view quoted);

}  // namespace vagt::query::syntax
