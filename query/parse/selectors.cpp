// Grammar of what follows or fills a selector: matchers in braces, lists of label names, ranges,
// offset and @.
#include "query/parse/grammar.h"

namespace vagt::query::syntax {
namespace {

constexpr auto is_match_operator = [](Kind k) {
  return k == Kind::Assign || k == Kind::NotEqual || k == Kind::MatchRegex ||
         k == Kind::MatchNotRegex;
};
constexpr auto is_number = [](Kind k) { return k == Kind::Number || k == Kind::Duration; };
constexpr auto is_sign = [](Kind k) { return k == Kind::Add || k == Kind::Sub; };
constexpr auto is_label = [](Kind k) { return is_label_name(k) || k == Kind::String; };
constexpr auto is_duration_operator = [](Kind k) { return k >= Kind::Add && k <= Kind::Pow; };
constexpr auto is_query_property = [](Kind k) { return k == Kind::Step || k == Kind::Range; };
constexpr auto is_choice = [](Kind k) { return k == Kind::MinOf || k == Kind::MaxOf; };
constexpr auto is_edge = [](Kind k) { return k == Kind::Start || k == Kind::End; };
constexpr auto is_extension = [](Kind k) { return k == Kind::Anchored || k == Kind::Smoothed; };

const auto sign = token_if(is_sign);
const auto number = token_if(is_number);

using Match = x3::rule<struct MatchId, MatcherSyntax>;
const Match match = "match";
const auto match_tail = token_if(is_match_operator)[set<&MatcherSyntax::op>] >>
                        token(Kind::String)[set<&MatcherSyntax::value>];
const auto match_def = (token(Kind::Identifier)[set<&MatcherSyntax::label>] >> match_tail) |
                       (token(Kind::String)[set<&MatcherSyntax::label>] >> -match_tail);

const auto one_match = match[push<&MatchersSyntax::items>];
const auto matchers_def = token(Kind::LeftBrace)[set<&MatchersSyntax::open>] >>
                          -(one_match >> *(token(Kind::Comma) >> one_match) >>
                            -token(Kind::Comma)) >>
                          token(Kind::RightBrace)[set<&MatchersSyntax::close>];

const auto one_label = token_if(is_label)[push<&LabelsSyntax::names>];
const auto label_list_def = token(Kind::LeftParen) >>
                            -(one_label >> *(token(Kind::Comma) >> one_label) >>
                              -token(Kind::Comma)) >>
                            token(Kind::RightParen);

using DurationRule = x3::rule<struct DurationId, DurationSyntax>;
using OffsetRule = x3::rule<struct OffsetId, DurationSyntax>;
using TermRule = x3::rule<struct TermId, DurationTerm>;
using OffsetTermRule = x3::rule<struct OffsetTermId, DurationTerm>;
const DurationRule duration = "duration";
const OffsetRule offset_duration = "offset_duration";
const TermRule term = "term";
const OffsetTermRule offset_term = "offset_term";

const auto close_term = token(Kind::RightParen)[set<&DurationTerm::close>];
const auto inner_duration = duration[push<&DurationTerm::inner>];
const auto plain_term = token_if(is_number)[set<&DurationTerm::head>] |
                        (token_if(is_query_property)[set<&DurationTerm::head>] >>
                         token(Kind::LeftParen) >> close_term) |
                        (token_if(is_choice)[set<&DurationTerm::head>] >> token(Kind::LeftParen) >>
                         inner_duration >> token(Kind::Comma) >> inner_duration >> close_term);
const auto paren_term =
    token(Kind::LeftParen)[set<&DurationTerm::head>] >> inner_duration >> close_term;
const auto term_sign = sign[push<&DurationTerm::signs>];

const auto term_def = *term_sign >> (plain_term | paren_term);
const auto duration_def = term[push<&DurationSyntax::terms>] >>
                          *(token_if(is_duration_operator)[push<&DurationSyntax::ops>] >>
                            term[push<&DurationSyntax::terms>]);

// After `offset` a literal or a call ends the duration, so that `x offset 5m * 2` multiplies x;
// only an expression that begins with a parenthesis goes on.
const auto offset_term_def = (term_sign >> (plain_term | paren_term)) | plain_term;
const auto take_duration = [](auto& ctx) { x3::_val(ctx) = std::move(x3::_attr(ctx)); };
const auto offset_duration_def =
    offset_term[push<&DurationSyntax::terms>] | duration[take_duration];

const auto mark_subquery = [](auto& ctx) { x3::_val(ctx).subquery = true; };
const auto close_bracket = token(Kind::RightBracket)[set<&SuffixSyntax::close>];
const auto suffix_duration = duration[push<&SuffixSyntax::range>];
const auto range_suffix = token(Kind::LeftBracket)[set<&SuffixSyntax::head>] >> suffix_duration >>
                          (close_bracket | (token(Kind::Colon)[mark_subquery] >> -suffix_duration >>
                                            close_bracket));
const auto offset_suffix =
    token(Kind::Offset)[set<&SuffixSyntax::head>] >> offset_duration[push<&SuffixSyntax::range>];
const auto at_suffix = token(Kind::At)[set<&SuffixSyntax::head>] >>
                       ((-sign[set<&SuffixSyntax::sign>] >> number[set<&SuffixSyntax::at>]) |
                        (token_if(is_edge)[set<&SuffixSyntax::at>] >> token(Kind::LeftParen) >>
                         token(Kind::RightParen)[set<&SuffixSyntax::close>]));
const auto suffix_def =
    range_suffix | offset_suffix | at_suffix | token_if(is_extension)[set<&SuffixSyntax::head>];

BOOST_SPIRIT_DEFINE(match, term, duration, offset_term, offset_duration)

}  // namespace

BOOST_SPIRIT_DEFINE(matchers, label_list, suffix)
BOOST_SPIRIT_INSTANTIATE(Matchers, Cursor, Context)
BOOST_SPIRIT_INSTANTIATE(LabelList, Cursor, Context)
BOOST_SPIRIT_INSTANTIATE(Suffix, Cursor, Context)

}  // namespace vagt::query::syntax
