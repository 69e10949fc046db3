#include "query/parse.h"

#include <fmt/core.h>

#include <utility>

#include "query/parse/explain.h"
#include "query/parse/lower.h"
#include "query/parse/syntax.h"
#include "query/typecheck.h"

namespace vagt::query {
namespace {

// Only parentheses recurse, so their depth bounds the stack that the grammar takes.
Result<syntax::TokenList> checked_tokens(std::string_view text, const ParseOptions& options) {
  if (text.size() > options.max_bytes)
    return Status{Code::InvalidArgument,
                  fmt::format("1:{}: parse error: query is longer than {} bytes",
                              options.max_bytes + 1, options.max_bytes)};
  syntax::TokenList list = syntax::tokenize(text);
  if (list.max_nesting <= options.max_nesting) return list;
  size_t depth = 0;
  for (const syntax::Token& token : list.tokens) {
    if (token.kind == syntax::Kind::LeftParen && ++depth > options.max_nesting)
      return syntax::error_at(
          text, token.begin,
          fmt::format("parentheses are nested more than {} deep", options.max_nesting));
    if (token.kind == syntax::Kind::RightParen) --depth;
  }
  return list;
}

}  // namespace

Result<ExprPtr> parse_expr(std::string_view text, const ParseOptions& options) {
  VAGT_TRY(const syntax::TokenList list, checked_tokens(text, options));
  if (list.tokens.front().kind == syntax::Kind::Eof)
    return syntax::error_at(text, 0, "no expression found in input");
  syntax::ExpressionSyntax tree;
  const syntax::Outcome outcome = syntax::match_expression(list, tree);
  if (!outcome.matched) return syntax::explain(list, outcome.furthest, text, options);
  VAGT_TRY(ExprPtr expr, syntax::lower_expression(tree, text, options));
  VAGT_CHECK_OK(typecheck(*expr, text));
  return expr;
}

Result<std::vector<Matcher>> parse_metric_selector(std::string_view text) {
  const ParseOptions options;
  VAGT_TRY(const syntax::TokenList list, checked_tokens(text, options));
  syntax::PrimarySyntax tree;
  const syntax::Outcome outcome = syntax::match_selector(list, tree);
  if (!outcome.matched) return syntax::explain(list, outcome.furthest, text, options);
  VAGT_TRY(VectorSelector selector, syntax::lower_selector(tree, text));
  return std::move(selector.matchers);
}

}  // namespace vagt::query
