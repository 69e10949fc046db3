// Finding selectors in expressions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "query/ast.h"

namespace vagt::rules {

// The selector that `expr` is, with or without a range and parentheses; null for anything else.
const query::VectorSelector* selector_of(const query::Expr& expr);
// Its metric, also where it stands in the braces; "" when there is no one name.
std::string_view metric_name(const query::VectorSelector& selector);
// The selector as text without its range.
std::string print_selector(const query::Expr& expr);
// Through aggregations and functions that keep the values' meaning (sum, max, label_replace…):
// the selector whose values are compared; null when something else is computed.
const query::VectorSelector* compared_selector(const query::Expr& expr);
// The same for rate(), increase() and their like: the call, null when there is none.
const query::Call* compared_rate(const query::Expr& expr);
// The range of the call's argument; none when it is no range or written as arithmetic.
std::optional<Duration> range_of(const query::Call& call);

}  // namespace vagt::rules
