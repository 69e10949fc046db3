#include "query/parse/lower.h"

#include <fmt/core.h>

#include <algorithm>
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

MutableExpr make_expr(decltype(Expr::node) node, ValueType type, Source source) {
  auto expr = std::make_shared<Expr>();
  expr->node = std::move(node);
  expr->type = type;
  expr->source = source;
  return expr;
}

// A sub-tree and how high it is: recursion over trees stays within the stack because no tree gets
// too high.
struct Tree {
  MutableExpr expr;
  size_t height = 1;
};

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

  Result<Tree> expression(const ExpressionSyntax& syntax);

 private:
  Status reduce(std::vector<Tree>& operands, std::vector<Pending>& pending) const;
  Result<Tree> apply_sign(const Token& sign, Tree operand) const;
  Result<Tree> binary(Tree lhs, const OperatorSyntax& op, Tree rhs) const;
  Status fill(const OperatorSyntax& op, VectorMatching& matching) const;
  Result<Tree> operand(const OperandSyntax& syntax);
  Result<Tree> primary(const PrimarySyntax& syntax);
  Result<std::vector<ExprPtr>> arguments(const PrimarySyntax& syntax, size_t& height);
  Result<Tree> call(const PrimarySyntax& syntax);
  Result<Tree> aggregate(const PrimarySyntax& syntax);

  Status fail(const Token& token, std::string_view message) const {
    return error_at(text_, token.begin, message);
  }
  std::string_view word(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  // One level on top of trees of height `below`.
  Result<Tree> grow(MutableExpr expr, size_t below) const {
    if (below < options_.max_depth) return Tree{std::move(expr), below + 1};
    return error_at(text_, expr->source.begin,
                    fmt::format("expression is nested more than {} deep", options_.max_depth));
  }

  const std::string_view text_;
  const ParseOptions& options_;
};

Result<Tree> Lowering::expression(const ExpressionSyntax& syntax) {
  std::vector<Tree> operands;
  std::vector<Pending> pending;
  for (size_t i = 0; i < syntax.operands.size(); ++i) {
    if (i > 0) {
      const OperatorSyntax& next = syntax.ops[i - 1];
      while (!pending.empty() && binds_first(pending.back(), next.op.kind))
        VAGT_CHECK_OK(reduce(operands, pending));
      pending.push_back({&next, {}});
    }
    for (const Token& sign : syntax.operands[i].signs) pending.push_back({nullptr, sign});
    VAGT_TRY(Tree value, operand(syntax.operands[i]));
    operands.push_back(std::move(value));
  }
  while (!pending.empty()) VAGT_CHECK_OK(reduce(operands, pending));
  return std::move(operands.front());
}

Status Lowering::reduce(std::vector<Tree>& operands, std::vector<Pending>& pending) const {
  const Pending top = pending.back();
  pending.pop_back();
  Tree rhs = std::move(operands.back());
  operands.pop_back();
  if (top.op == nullptr) {
    VAGT_TRY(Tree value, apply_sign(top.sign, std::move(rhs)));
    operands.push_back(std::move(value));
    return {};
  }
  Tree lhs = std::move(operands.back());
  operands.pop_back();
  VAGT_TRY(Tree value, binary(std::move(lhs), *top.op, std::move(rhs)));
  operands.push_back(std::move(value));
  return {};
}

Result<Tree> Lowering::apply_sign(const Token& sign, Tree operand) const {
  const bool negate = sign.kind == Kind::Sub;
  Expr& expr = *operand.expr;
  if (auto* number = std::get_if<NumberLiteral>(&expr.node)) {
    if (negate) number->value = -number->value;
    expr.source.begin = sign.begin;
    return operand;
  }
  const ValueType type = expr.type;
  const Source source{sign.begin, expr.source.end};
  return grow(make_expr(Unary{negate, std::move(operand.expr)}, type, source), operand.height);
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

Result<Tree> Lowering::binary(Tree lhs, const OperatorSyntax& op, Tree rhs) const {
  using Card = VectorMatching::Card;
  Binary node;
  node.op = static_cast<BinaryOp>(static_cast<int>(op.op.kind) - static_cast<int>(Kind::Add));
  node.return_bool = op.return_bool;
  VectorMatching matching;
  matching.on = op.matching.kind == Kind::On;
  VAGT_TRY(matching.labels, lower_labels(op.labels, text_));
  VAGT_TRY(matching.include, lower_labels(op.include, text_));
  if (op.grouping.kind == Kind::GroupLeft) matching.card = Card::ManyToOne;
  if (op.grouping.kind == Kind::GroupRight) matching.card = Card::OneToMany;
  VAGT_CHECK_OK(fill(op, matching));
  const bool fills = matching.fill_lhs || matching.fill_rhs;
  if (fills && !options_.binop_fill_modifiers)
    return error_at(text_, lhs.expr->source.begin,
                    "binop fill modifiers are experimental and not enabled");
  if (is_set_operator(node.op) && matching.card == Card::OneToOne) matching.card = Card::ManyToMany;
  // What the type check must refuse between scalars is kept for it; what it lets pass means nothing
  // there.
  const ValueType left = lhs.expr->type, right = rhs.expr->type;
  const bool vectors = left == ValueType::Vector && right == ValueType::Vector;
  if (vectors || !matching.labels.empty() || fills) node.matching = std::move(matching);
  const bool scalars = left == ValueType::Scalar && right == ValueType::Scalar;
  const Source source{lhs.expr->source.begin, rhs.expr->source.end};
  node.lhs = std::move(lhs.expr);
  node.rhs = std::move(rhs.expr);
  return grow(make_expr(std::move(node), scalars ? ValueType::Scalar : ValueType::Vector, source),
              std::max(lhs.height, rhs.height));
}

Result<Tree> Lowering::operand(const OperandSyntax& syntax) {
  VAGT_TRY(Tree value, primary(syntax.primary));
  for (const SuffixSyntax& suffix : syntax.suffixes) {
    VAGT_TRY(value.expr, apply_suffix(std::move(value.expr), suffix, text_, options_));
    if (suffix.head.kind == Kind::LeftBracket) {
      VAGT_TRY(value, grow(std::move(value.expr), value.height));
    }
  }
  return value;
}

Result<Tree> Lowering::primary(const PrimarySyntax& syntax) {
  using Form = PrimarySyntax::Form;
  const Source head{syntax.head.begin, syntax.head.end};
  switch (syntax.form) {
    case Form::Number: {
      VAGT_TRY(const double value, number_value(syntax.head, text_));
      return Tree{make_expr(NumberLiteral{value, syntax.head.kind == Kind::Duration},
                            ValueType::Scalar, head)};
    }
    case Form::String:
      return Tree{make_expr(StringLiteral{unquote(word(syntax.head))}, ValueType::String, head)};
    case Form::Selector: {
      VAGT_TRY(VectorSelector node, lower_selector(syntax, text_));
      const uint32_t end = syntax.matchers ? syntax.matchers->close.end : head.end;
      return Tree{make_expr(std::move(node), ValueType::Vector, {head.begin, end})};
    }
    case Form::Paren: {
      VAGT_TRY(Tree inner, expression(syntax.args[0]));
      const ValueType type = inner.expr->type;
      return grow(make_expr(Paren{std::move(inner.expr)}, type, {head.begin, syntax.close.end}),
                  inner.height);
    }
    case Form::Call:
      return call(syntax);
    case Form::Aggregate:
      return aggregate(syntax);
  }
  return Status{Code::Internal, "unknown form"};
}

Result<std::vector<ExprPtr>> Lowering::arguments(const PrimarySyntax& syntax, size_t& height) {
  std::vector<ExprPtr> args;
  for (const ExpressionSyntax& arg : syntax.args) {
    VAGT_TRY(Tree value, expression(arg));
    height = std::max(height, value.height);
    args.push_back(std::move(value.expr));
  }
  if (syntax.trailing_comma.kind == Kind::Comma)
    return fail(syntax.trailing_comma, "trailing commas not allowed in function call args");
  return args;
}

Result<Tree> Lowering::call(const PrimarySyntax& syntax) {
  size_t height = 0;
  VAGT_TRY(std::vector<ExprPtr> args, arguments(syntax, height));
  const std::string_view name = word(syntax.head);
  const FunctionSignature* function = find_function(name);
  if (function == nullptr) return fail(syntax.head, "unknown function with name " + quote(name));
  if (function->experimental && !options_.experimental_functions)
    return fail(syntax.head, fmt::format("function {} is not enabled", quote(name)));
  return grow(make_expr(Call{function, std::move(args)}, function->returns,
                        {syntax.head.begin, syntax.close.end}),
              height);
}

Result<Tree> Lowering::aggregate(const PrimarySyntax& syntax) {
  Aggregate node;
  node.op =
      static_cast<AggregateOp>(static_cast<int>(syntax.head.kind) - static_cast<int>(Kind::Sum));
  size_t height = 0;
  VAGT_TRY(std::vector<ExprPtr> args, arguments(syntax, height));
  if (syntax.grouping) {
    node.without = syntax.grouping->keyword.kind == Kind::Without;
    VAGT_TRY(node.grouping, lower_labels(syntax.grouping->labels, text_));
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
  return grow(make_expr(std::move(node), ValueType::Vector, {syntax.head.begin, syntax.close.end}),
              height);
}

}  // namespace

Result<ExprPtr> lower_expression(const ExpressionSyntax& syntax, std::string_view text,
                                 const ParseOptions& options) {
  VAGT_TRY(Tree tree, Lowering(text, options).expression(syntax));
  return ExprPtr(std::move(tree.expr));
}

}  // namespace vagt::query::syntax
