#include <string>
#include <utility>

#include "base/labels.h"
#include "query/parse/explain.h"
#include "query/parse/lower.h"

namespace vagt::query::syntax {
namespace {

std::string_view word(const Token& token, std::string_view text) {
  return text.substr(token.begin, token.end - token.begin);
}

Result<Matcher> lower_matcher(const MatcherSyntax& syntax, std::string_view text) {
  const bool quoted = syntax.label.kind == Kind::String;
  std::string label =
      quoted ? unquote(word(syntax.label, text)) : std::string(word(syntax.label, text));
  if (syntax.op.kind == Kind::Eof)
    return Matcher::equal(std::string(kMetricName), std::move(label));
  MatchOp op = MatchOp::Equal;
  if (syntax.op.kind == Kind::NotEqual) op = MatchOp::NotEqual;
  if (syntax.op.kind == Kind::MatchRegex) op = MatchOp::Regex;
  if (syntax.op.kind == Kind::MatchNotRegex) op = MatchOp::NotRegex;
  Result<Matcher> made = Matcher::make(op, std::move(label), unquote(word(syntax.value, text)));
  if (!made) return error_at(text, syntax.label.begin, made.error().message());
  return made;
}

}  // namespace

Result<std::vector<std::string>> lower_labels(const LabelsSyntax& syntax, std::string_view text) {
  std::vector<std::string> names;
  for (const Token& token : syntax.names) {
    std::string name =
        token.kind == Kind::String ? unquote(word(token, text)) : std::string(word(token, text));
    if (!is_utf8_name(name))
      return error_at(text, token.begin, "invalid label name for grouping: " + quote(name));
    names.push_back(std::move(name));
  }
  return names;
}

Result<VectorSelector> lower_selector(const PrimarySyntax& syntax, std::string_view text) {
  VectorSelector node;
  if (syntax.head.kind != Kind::LeftBrace) node.name = word(syntax.head, text);
  if (syntax.matchers) {
    for (const MatcherSyntax& item : syntax.matchers->items) {
      VAGT_TRY(Matcher made, lower_matcher(item, text));
      node.matchers.push_back(std::move(made));
    }
  }
  if (!node.name.empty())
    node.matchers.push_back(Matcher::equal(std::string(kMetricName), node.name));
  return node;
}

}  // namespace vagt::query::syntax
