// The pieces that the grammar's files share. The only header that includes Spirit X3.
#pragma once

#include <boost/spirit/home/x3.hpp>
#include <cstddef>
#include <iterator>

#include "query/parse/syntax.h"

namespace vagt::query::syntax {

namespace x3 = boost::spirit::x3;

// Walks the tokens and remembers the furthest one that a rule looked at: when nothing matches, that
// token is the one that does not fit.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Token;
  using difference_type = std::ptrdiff_t;
  using pointer = const Token*;
  using reference = const Token&;

  Cursor() = default;
  Cursor(const Token* token, const Token** furthest) : token_(token), furthest_(furthest) {}
  reference operator*() const {
    if (token_ > *furthest_) *furthest_ = token_;
    return *token_;
  }
  pointer operator->() const { return &**this; }
  Cursor& operator++() {
    ++token_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++token_;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.token_ == b.token_; }
  friend bool operator!=(const Cursor& a, const Cursor& b) { return a.token_ != b.token_; }

 private:
  const Token* token_ = nullptr;
  const Token** furthest_ = nullptr;
};

// One token of which Accept says yes. Its attribute is the token.
template <class Accept>
struct TokenParser : x3::parser<TokenParser<Accept>> {
  using attribute_type = Token;
  static constexpr bool has_attribute = true;

  explicit constexpr TokenParser(Accept a) : accept(a) {}
  template <class Iterator, class Context, class RuleContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context&, RuleContext&,
             Attribute& attribute) const {
    if (first == last || !accept(first->kind)) return false;
    x3::traits::move_to(*first, attribute);
    ++first;
    return true;
  }
  Accept accept;
};
struct IsKind {
  Kind kind;
  constexpr bool operator()(Kind k) const { return k == kind; }
};
constexpr auto token(Kind kind) { return TokenParser<IsKind>(IsKind{kind}); }
template <class Accept>
constexpr auto token_if(Accept accept) {
  return TokenParser<Accept>(accept);
}

// Semantic action: puts the attribute into a member of the rule's value, or appends it to one.
template <auto Member>
struct Set {
  template <class Context>
  void operator()(Context& ctx) const {
    x3::_val(ctx).*Member = std::move(x3::_attr(ctx));
  }
};
template <auto Member>
struct Push {
  template <class Context>
  void operator()(Context& ctx) const {
    (x3::_val(ctx).*Member).push_back(std::move(x3::_attr(ctx)));
  }
};
template <auto Member>
inline constexpr Set<Member> set{};
template <auto Member>
inline constexpr Push<Member> push{};

// selectors.cpp
using Matchers = x3::rule<struct MatchersId, MatchersSyntax>;
using LabelList = x3::rule<struct LabelListId, LabelsSyntax>;
using Suffix = x3::rule<struct SuffixId, SuffixSyntax>;
inline const Matchers matchers = "matchers";
inline const LabelList label_list = "label_list";
inline const Suffix suffix = "suffix";
BOOST_SPIRIT_DECLARE(Matchers, LabelList, Suffix)
// expressions.cpp
using Expression = x3::rule<struct ExpressionId, ExpressionSyntax>;
using Selector = x3::rule<struct SelectorId, PrimarySyntax>;
inline const Expression expression = "expression";
inline const Selector selector = "selector";
BOOST_SPIRIT_DECLARE(Expression, Selector)

using Context = x3::unused_type;  // no skipper: comments and space are gone by now

}  // namespace vagt::query::syntax
