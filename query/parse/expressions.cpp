// Grammar of expressions: flat lists of operands and operators, so that only parentheses recurse.
#include "query/parse/grammar.h"

namespace vagt::query::syntax {
namespace {

using Form = PrimarySyntax::Form;

constexpr auto is_number = [](Kind k) { return k == Kind::Number || k == Kind::Duration; };
constexpr auto is_sign = [](Kind k) { return k == Kind::Add || k == Kind::Sub; };
constexpr auto is_callable = [](Kind k) { return k == Kind::Identifier || is_function_keyword(k); };
constexpr auto is_by_or_without = [](Kind k) { return k == Kind::By || k == Kind::Without; };
constexpr auto is_on_or_ignoring = [](Kind k) { return k == Kind::On || k == Kind::Ignoring; };
constexpr auto is_group_side = [](Kind k) { return k == Kind::GroupLeft || k == Kind::GroupRight; };

// Puts the head token and says what the primary is.
template <Form form>
constexpr auto begin = [](auto& ctx) {
  x3::_val(ctx).form = form;
  x3::_val(ctx).head = x3::_attr(ctx);
};
const auto close_primary = [](Kind kind) { return token(kind)[set<&PrimarySyntax::close>]; };

using GroupingRule = x3::rule<struct GroupingId, GroupingSyntax>;
using ArgsRule = x3::rule<struct ArgsId, PrimarySyntax>;
using AggregateRule = x3::rule<struct AggregateId, PrimarySyntax>;
using CallRule = x3::rule<struct CallId, PrimarySyntax>;
using PrimaryRule = x3::rule<struct PrimaryId, PrimarySyntax>;
using OperandRule = x3::rule<struct OperandId, OperandSyntax>;
using FillRule = x3::rule<struct FillId, FillSyntax>;
using OperatorRule = x3::rule<struct OperatorId, OperatorSyntax>;
const GroupingRule grouping = "grouping";
const ArgsRule args = "args";
const AggregateRule aggregate = "aggregate";
const CallRule call = "call";
const PrimaryRule primary = "primary";
const OperandRule operand = "operand";
const FillRule fill = "fill";
const OperatorRule binary_operator = "binary_operator";

const auto grouping_def = token_if(is_by_or_without)[set<&GroupingSyntax::keyword>] >>
                          label_list[set<&GroupingSyntax::labels>];

const auto one_arg = expression[push<&PrimarySyntax::args>];
const auto args_def = token(Kind::LeftParen) >>
                      -(one_arg >> *(token(Kind::Comma) >> one_arg) >>
                        -token(Kind::Comma)[set<&PrimarySyntax::trailing_comma>]) >>
                      close_primary(Kind::RightParen);
const auto take_args = [](auto& ctx) {
  PrimarySyntax& from = x3::_attr(ctx);
  PrimarySyntax& to = x3::_val(ctx);
  to.args = std::move(from.args);
  to.trailing_comma = from.trailing_comma;
  to.close = from.close;
};
const auto take_grouping = grouping[set<&PrimarySyntax::grouping>];

const auto aggregate_def = token_if(is_aggregator)[begin<Form::Aggregate>] >>
                           ((take_grouping >> args[take_args]) |
                            (args[take_args] >> -take_grouping));
const auto call_def = token_if(is_callable)[begin<Form::Call>] >> args[take_args];

const auto set_matchers = matchers[set<&PrimarySyntax::matchers>];
const auto begin_braces = [](auto& ctx) {
  x3::_val(ctx).form = Form::Selector;
  x3::_val(ctx).head = x3::_attr(ctx).open;
  x3::_val(ctx).matchers = std::move(x3::_attr(ctx));
};
const auto selector_def =
    (token_if(is_metric_name)[begin<Form::Selector>] >> -set_matchers) | matchers[begin_braces];

const auto take_primary = [](auto& ctx) { x3::_val(ctx) = std::move(x3::_attr(ctx)); };
const auto paren = token(Kind::LeftParen)[begin<Form::Paren>] >> one_arg >>
                   close_primary(Kind::RightParen);
const auto primary_def = token_if(is_number)[begin<Form::Number>] |
                         token(Kind::String)[begin<Form::String>] | aggregate[take_primary] |
                         call[take_primary] | selector[take_primary] | paren;

const auto operand_def = *token_if(is_sign)[push<&OperandSyntax::signs>] >>
                         primary[set<&OperandSyntax::primary>] >>
                         *suffix[push<&OperandSyntax::suffixes>];

const auto fill_value = token(Kind::LeftParen) >> -token_if(is_sign)[set<&FillSyntax::sign>] >>
                        token_if(is_number)[set<&FillSyntax::number>] >> token(Kind::RightParen);
const auto is_fill = [](Kind k) { return k >= Kind::Fill && k <= Kind::FillRight; };
const auto fill_def = token_if(is_fill)[set<&FillSyntax::keyword>] >> fill_value;

// A parenthesis behind group_left opens its labels, never the operand.
const auto mark_bool = [](auto& ctx) { x3::_val(ctx).return_bool = true; };
const auto binary_operator_def = token_if(is_binary_operator)[set<&OperatorSyntax::op>] >>
                                 -token(Kind::Bool)[mark_bool] >>
                                 -(token_if(is_on_or_ignoring)[set<&OperatorSyntax::matching>] >>
                                   label_list[set<&OperatorSyntax::labels>] >>
                                   -(token_if(is_group_side)[set<&OperatorSyntax::grouping>] >>
                                     (label_list[set<&OperatorSyntax::include>] |
                                      !token(Kind::LeftParen)))) >>
                                 *fill[push<&OperatorSyntax::fills>];

const auto expression_def = operand[push<&ExpressionSyntax::operands>] >>
                            *(binary_operator[push<&ExpressionSyntax::ops>] >>
                              operand[push<&ExpressionSyntax::operands>]);

BOOST_SPIRIT_DEFINE(grouping, args, aggregate, call, primary, operand, fill, binary_operator)

// Runs a rule over all tokens.
template <class Rule, class Syntax>
Outcome match_all(const TokenList& list, const Rule& rule, Syntax& out) {
  const Token* furthest = list.tokens.data();
  Cursor first(list.tokens.data(), &furthest);
  const Cursor last(list.tokens.data() + list.tokens.size(), &furthest);
  Outcome outcome;
  outcome.matched = x3::parse(first, last, rule, out) && first->kind == Kind::Eof;
  outcome.furthest = static_cast<size_t>(furthest - list.tokens.data());
  return outcome;
}

}  // namespace

BOOST_SPIRIT_DEFINE(expression, selector)
BOOST_SPIRIT_INSTANTIATE(Expression, Cursor, Context)
BOOST_SPIRIT_INSTANTIATE(Selector, Cursor, Context)

Outcome match_expression(const TokenList& list, ExpressionSyntax& out) {
  return match_all(list, expression, out);
}
Outcome match_selector(const TokenList& list, PrimarySyntax& out) {
  return match_all(list, selector, out);
}

}  // namespace vagt::query::syntax
