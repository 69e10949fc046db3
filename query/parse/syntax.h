// What the grammar fills: the shape of the text, token by token. lower.cpp makes the public tree of
// it.
#pragma once

#include <optional>
#include <vector>

#include "query/parse/tokens.h"

namespace vagt::query::syntax {

struct MatcherSyntax {
  Token label;      // an identifier or a string
  Token op, value;  // op.kind is Eof for a string alone: the metric name
};
struct MatchersSyntax {
  Token open, close;
  std::vector<MatcherSyntax> items;
};
struct LabelsSyntax {
  std::vector<Token> names;
};

// Operators and operands in the order written; lower.cpp orders them by precedence.
struct DurationTerm;
struct DurationSyntax {
  std::vector<DurationTerm> terms;  // one more than ops
  std::vector<Token> ops;
};
struct DurationTerm {
  std::vector<Token> signs;
  Token head;  // number, duration, step, range, min_of, max_of, or an opening parenthesis
  std::vector<DurationSyntax> inner;  // of parentheses one, of min_of and max_of two
  Token close;                        // the closing parenthesis where there is one
};

struct SuffixSyntax {
  Token head;                         // [, offset, @, anchored or smoothed
  std::vector<DurationSyntax> range;  // [range] or [range:step]; offset: one
  bool subquery = false;
  Token sign, at, close;  // @: an optional sign, then a number, start or end
};

struct GroupingSyntax {
  Token keyword;  // by or without
  LabelsSyntax labels;
};

struct ExpressionSyntax;
struct PrimarySyntax {
  enum class Form : uint8_t {
    Number,
    String,
    Selector,
    Call,
    Aggregate,
    Paren
  } form = Form::Number;
  Token head;  // the number, string, name, function, aggregator or opening token
  std::optional<MatchersSyntax> matchers;
  std::vector<ExpressionSyntax> args;  // Paren: one
  Token trailing_comma, close;
  std::optional<GroupingSyntax> grouping;
};
struct OperandSyntax {
  std::vector<Token> signs;
  PrimarySyntax primary;
  std::vector<SuffixSyntax> suffixes;
};

struct FillSyntax {
  Token keyword, sign, number;
};
struct OperatorSyntax {
  Token op;
  bool return_bool = false;
  Token matching;  // on, ignoring, or Eof
  LabelsSyntax labels;
  Token grouping;  // group_left, group_right, or Eof
  LabelsSyntax include;
  std::vector<FillSyntax> fills;
};
struct ExpressionSyntax {
  std::vector<OperandSyntax> operands;  // one more than ops
  std::vector<OperatorSyntax> ops;
};

// What came of running the grammar over the tokens.
struct Outcome {
  bool matched = false;
  size_t furthest = 0;  // the first token that no rule could take, when not matched
};
Outcome match_expression(const TokenList& list, ExpressionSyntax& out);
Outcome match_selector(const TokenList& list, PrimarySyntax& out);

}  // namespace vagt::query::syntax
