#include "query/parse/lower.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/labels.h"
#include "query/functions.h"
#include "query/parse/explain.h"
#include "query/parse/numbers.h"
#include "query/parse/suffixes.h"

namespace vagt::query::syntax {
namespace {

using MutableExpr = std::shared_ptr<Expr>;

std::string_view word_of(const Token& token, std::string_view text) {
  return text.substr(token.begin, token.end - token.begin);
}

MutableExpr make_expr(decltype(Expr::node) node, ValueType type, Source source) {
  auto expr = std::make_shared<Expr>();
  expr->node = std::move(node);
  expr->type = type;
  expr->source = source;
  return expr;
}

// A binary operator or a sign that waits for its right side.
struct Pending {
  const OperatorSyntax* op = nullptr;  // null: a sign
  Token sign;
};
int precedence(Kind k) {
  switch (k) {
    case Kind::Or:
      return 1;
    case Kind::And:
    case Kind::Unless:
      return 2;
    case Kind::Add:
    case Kind::Sub:
      return 4;
    case Kind::Mul:
    case Kind::Div:
    case Kind::Mod:
    case Kind::Atan2:
      return 5;
    case Kind::Pow:
      return 6;
    default:
      return 3;  // comparisons
  }
}
// A sign binds as `*` does: -a^b is -(a^b), -a*b is (-a)*b.
bool binds_first(const Pending& waiting, Kind next) {
  const int level = waiting.op == nullptr ? precedence(Kind::Mul) : precedence(waiting.op->op.kind);
  return level > precedence(next) || (level == precedence(next) && next != Kind::Pow);
}

class Lowering {
 public:
  Lowering(std::string_view text, const ParseOptions& options) : text_(text), options_(options) {}

  Result<MutableExpr> expression(const ExpressionSyntax& syntax);
  Result<VectorSelector> selector(const PrimarySyntax& syntax) const;

 private:
  Status reduce(std::vector<MutableExpr>& operands, std::vector<Pending>& pending) const;
  Result<MutableExpr> apply_sign(const Token& sign, MutableExpr operand) const;
  Result<MutableExpr> binary(MutableExpr lhs, const OperatorSyntax& op, MutableExpr rhs) const;
  Status fill(const OperatorSyntax& op, VectorMatching& matching) const;
  Result<MutableExpr> operand(const OperandSyntax& syntax);
  Result<MutableExpr> primary(const PrimarySyntax& syntax);
  Result<std::vector<ExprPtr>> arguments(const PrimarySyntax& syntax);
  Result<MutableExpr> call(const PrimarySyntax& syntax);
  Result<MutableExpr> aggregate(const PrimarySyntax& syntax);
  Result<std::vector<std::string>> labels(const LabelsSyntax& syntax) const;
  Result<Matcher> matcher(const MatcherSyntax& syntax) const;

  Status fail(const Token& token, std::string_view message) const {
    return error_at(text_, token.begin, message);
  }
  std::string_view word(const Token& token) const { return word_of(token, text_); }

  const std::string_view text_;
  const ParseOptions& options_;
};

Result<MutableExpr> Lowering::expression(const ExpressionSyntax& syntax) {
  std::vector<MutableExpr> operands;
  std::vector<Pending> pending;
  size_t operators = 0;
  for (size_t i = 0; i < syntax.operands.size(); ++i) {
    if (i > 0) {
      const OperatorSyntax& next = syntax.ops[i - 1];
      while (!pending.empty() && binds_first(pending.back(), next.op.kind))
        VAGT_CHECK_OK(reduce(operands, pending));
      pending.push_back({&next, {}});
    }
    operators += syntax.operands[i].signs.size() + 1;
    if (operators > options_.max_operators + 1)
      return error_at(
          text_, syntax.operands[i].primary.head.begin,
          fmt::format("expression has more than {} operators in a row", options_.max_operators));
    for (const Token& sign : syntax.operands[i].signs) pending.push_back({nullptr, sign});
    VAGT_TRY(MutableExpr value, operand(syntax.operands[i]));
    operands.push_back(std::move(value));
  }
  while (!pending.empty()) VAGT_CHECK_OK(reduce(operands, pending));
  return operands.front();
}

Status Lowering::reduce(std::vector<MutableExpr>& operands, std::vector<Pending>& pending) const {
  const Pending top = pending.back();
  pending.pop_back();
  MutableExpr rhs = std::move(operands.back());
  operands.pop_back();
  if (top.op == nullptr) {
    VAGT_TRY(MutableExpr value, apply_sign(top.sign, std::move(rhs)));
    operands.push_back(std::move(value));
    return {};
  }
  MutableExpr lhs = std::move(operands.back());
  operands.pop_back();
  VAGT_TRY(MutableExpr value, binary(std::move(lhs), *top.op, std::move(rhs)));
  operands.push_back(std::move(value));
  return {};
}

Result<MutableExpr> Lowering::apply_sign(const Token& sign, MutableExpr operand) const {
  const bool negate = sign.kind == Kind::Sub;
  if (auto* number = std::get_if<NumberLiteral>(&operand->node)) {
    if (negate) number->value = -number->value;
    operand->source.begin = sign.begin;
    return operand;
  }
  const ValueType type = operand->type;
  const Source source{sign.begin, operand->source.end};
  return make_expr(Unary{negate, std::move(operand)}, type, source);
}

Status Lowering::fill(const OperatorSyntax& op, VectorMatching& matching) const {
  for (const FillSyntax& item : op.fills) {
    VAGT_TRY(double value, number_value(item.number, text_));
    if (item.sign.kind == Kind::Sub) value = -value;
    if (item.keyword.kind != Kind::FillRight) matching.fill_lhs = value;
    if (item.keyword.kind != Kind::FillLeft) matching.fill_rhs = value;
  }
  return {};
}

Result<MutableExpr> Lowering::binary(MutableExpr lhs, const OperatorSyntax& op,
                                     MutableExpr rhs) const {
  using Card = VectorMatching::Card;
  Binary node;
  node.op = static_cast<BinaryOp>(static_cast<int>(op.op.kind) - static_cast<int>(Kind::Add));
  node.return_bool = op.return_bool;
  VectorMatching matching;
  matching.on = op.matching.kind == Kind::On;
  VAGT_TRY(matching.labels, labels(op.labels));
  VAGT_TRY(matching.include, labels(op.include));
  if (op.grouping.kind == Kind::GroupLeft) matching.card = Card::ManyToOne;
  if (op.grouping.kind == Kind::GroupRight) matching.card = Card::OneToMany;
  VAGT_CHECK_OK(fill(op, matching));
  const bool fills = matching.fill_lhs || matching.fill_rhs;
  if (fills && !options_.binop_fill_modifiers)
    return error_at(text_, lhs->source.begin,
                    "binop fill modifiers are experimental and not enabled");
  if (is_set_operator(node.op) && matching.card == Card::OneToOne) matching.card = Card::ManyToMany;
  // What the type check must refuse between scalars is kept for it; what it lets pass means nothing
  // there.
  const bool vectors = lhs->type == ValueType::Vector && rhs->type == ValueType::Vector;
  if (vectors || !matching.labels.empty() || fills) node.matching = std::move(matching);
  const bool scalars = lhs->type == ValueType::Scalar && rhs->type == ValueType::Scalar;
  const Source source{lhs->source.begin, rhs->source.end};
  node.lhs = std::move(lhs);
  node.rhs = std::move(rhs);
  return make_expr(std::move(node), scalars ? ValueType::Scalar : ValueType::Vector, source);
}

Result<MutableExpr> Lowering::operand(const OperandSyntax& syntax) {
  VAGT_TRY(MutableExpr value, primary(syntax.primary));
  size_t subqueries = 0;
  for (const SuffixSyntax& suffix : syntax.suffixes) {
    if (suffix.subquery && ++subqueries > options_.max_depth)
      return fail(suffix.head,
                  fmt::format("more than {} sub-queries of sub-queries", options_.max_depth));
    VAGT_TRY(value, apply_suffix(std::move(value), suffix, text_, options_));
  }
  return value;
}

Result<MutableExpr> Lowering::primary(const PrimarySyntax& syntax) {
  using Form = PrimarySyntax::Form;
  const Source head{syntax.head.begin, syntax.head.end};
  switch (syntax.form) {
    case Form::Number: {
      VAGT_TRY(const double value, number_value(syntax.head, text_));
      return make_expr(NumberLiteral{value, syntax.head.kind == Kind::Duration}, ValueType::Scalar,
                       head);
    }
    case Form::String:
      return make_expr(StringLiteral{unquote(word(syntax.head))}, ValueType::String, head);
    case Form::Selector: {
      VAGT_TRY(VectorSelector node, selector(syntax));
      return make_expr(std::move(node), ValueType::Vector,
                       {head.begin, syntax.matchers ? syntax.matchers->close.end : head.end});
    }
    case Form::Paren: {
      VAGT_TRY(MutableExpr inner, expression(syntax.args[0]));
      const ValueType type = inner->type;
      return make_expr(Paren{std::move(inner)}, type, {head.begin, syntax.close.end});
    }
    case Form::Call:
      return call(syntax);
    case Form::Aggregate:
      return aggregate(syntax);
  }
  return Status{Code::Internal, "unknown form"};
}

Result<std::vector<ExprPtr>> Lowering::arguments(const PrimarySyntax& syntax) {
  std::vector<ExprPtr> args;
  for (const ExpressionSyntax& arg : syntax.args) {
    VAGT_TRY(MutableExpr value, expression(arg));
    args.push_back(std::move(value));
  }
  if (syntax.trailing_comma.kind == Kind::Comma)
    return fail(syntax.trailing_comma, "trailing commas not allowed in function call args");
  return args;
}

Result<MutableExpr> Lowering::call(const PrimarySyntax& syntax) {
  VAGT_TRY(std::vector<ExprPtr> args, arguments(syntax));
  const std::string_view name = word(syntax.head);
  const FunctionSignature* function = find_function(name);
  if (function == nullptr) return fail(syntax.head, "unknown function with name " + quote(name));
  if (function->experimental && !options_.experimental_functions)
    return fail(syntax.head, fmt::format("function {} is not enabled", quote(name)));
  return make_expr(Call{function, std::move(args)}, function->returns,
                   {syntax.head.begin, syntax.close.end});
}

Result<MutableExpr> Lowering::aggregate(const PrimarySyntax& syntax) {
  Aggregate node;
  node.op =
      static_cast<AggregateOp>(static_cast<int>(syntax.head.kind) - static_cast<int>(Kind::Sum));
  VAGT_TRY(std::vector<ExprPtr> args, arguments(syntax));
  if (syntax.grouping) {
    node.without = syntax.grouping->keyword.kind == Kind::Without;
    VAGT_TRY(node.grouping, labels(syntax.grouping->labels));
  }
  if (args.empty()) return fail(syntax.head, "no arguments for aggregate expression provided");
  const bool experimental = node.op == AggregateOp::Limitk || node.op == AggregateOp::LimitRatio;
  if (experimental && !options_.experimental_functions)
    return fail(syntax.head, fmt::format("{}() is experimental and must be enabled with "
                                         "--enable-feature=promql-experimental-functions",
                                         aggregate_op_text(node.op)));
  const size_t wanted = takes_parameter(node.op) ? 2 : 1;
  if (args.size() != wanted)
    return fail(
        syntax.head,
        fmt::format("wrong number of arguments for aggregate expression provided, expected {}, "
                    "got {}",
                    wanted, args.size()));
  if (wanted == 2) node.param = args[0];
  node.expr = args[wanted - 1];
  const uint32_t end = syntax.close.end;
  return make_expr(std::move(node), ValueType::Vector, {syntax.head.begin, end});
}

Result<std::vector<std::string>> Lowering::labels(const LabelsSyntax& syntax) const {
  std::vector<std::string> names;
  for (const Token& token : syntax.names) {
    std::string name = token.kind == Kind::String ? unquote(word(token)) : std::string(word(token));
    if (!is_utf8_name(name)) return fail(token, "invalid label name for grouping: " + quote(name));
    names.push_back(std::move(name));
  }
  return names;
}

Result<Matcher> Lowering::matcher(const MatcherSyntax& syntax) const {
  const bool quoted = syntax.label.kind == Kind::String;
  std::string label = quoted ? unquote(word(syntax.label)) : std::string(word(syntax.label));
  if (syntax.op.kind == Kind::Eof)
    return Matcher::equal(std::string(kMetricName), std::move(label));
  MatchOp op = MatchOp::Equal;
  if (syntax.op.kind == Kind::NotEqual) op = MatchOp::NotEqual;
  if (syntax.op.kind == Kind::MatchRegex) op = MatchOp::Regex;
  if (syntax.op.kind == Kind::MatchNotRegex) op = MatchOp::NotRegex;
  Result<Matcher> made = Matcher::make(op, std::move(label), unquote(word(syntax.value)));
  if (!made) return fail(syntax.label, made.error().message());
  return made;
}

Result<VectorSelector> Lowering::selector(const PrimarySyntax& syntax) const {
  VectorSelector node;
  if (syntax.head.kind != Kind::LeftBrace) node.name = word(syntax.head);
  if (syntax.matchers) {
    for (const MatcherSyntax& item : syntax.matchers->items) {
      VAGT_TRY(Matcher made, matcher(item));
      node.matchers.push_back(std::move(made));
    }
  }
  if (!node.name.empty())
    node.matchers.push_back(Matcher::equal(std::string(kMetricName), node.name));
  return node;
}

}  // namespace

Result<ExprPtr> lower_expression(const ExpressionSyntax& syntax, std::string_view text,
                                 const ParseOptions& options) {
  VAGT_TRY(MutableExpr expr, Lowering(text, options).expression(syntax));
  return ExprPtr(std::move(expr));
}

Result<VectorSelector> lower_selector(const PrimarySyntax& syntax, std::string_view text) {
  return Lowering(text, ParseOptions{}).selector(syntax);
}

}  // namespace vagt::query::syntax
