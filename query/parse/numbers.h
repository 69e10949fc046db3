// Number and duration tokens to values.
#pragma once

#include <string_view>

#include "base/status.h"
#include "query/ast.h"
#include "query/parse/syntax.h"

namespace vagt::query::syntax {

// Seconds for durations. InvalidArgument: Prometheus's words with the place.
Result<double> number_value(const Token& token, std::string_view text);

// The tree of a duration. One literal without arithmetic stays a Literal, sign folded in.
// `allow_arithmetic` false: InvalidArgument for anything else. `max_height`: of the tree.
Result<DurationExprPtr> lower_duration(const DurationSyntax& syntax, std::string_view text,
                                       bool allow_arithmetic, size_t max_height);

}  // namespace vagt::query::syntax
