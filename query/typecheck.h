// Finds what the grammar cannot: wrong kinds of values, wrong numbers of arguments, modifiers that
// mean nothing.
#pragma once

#include <string_view>

#include "base/status.h"
#include "query/ast.h"

namespace vagt::query {

// `text` is what `expr` was parsed from, for the places in messages. InvalidArgument: the first
// fault in Prometheus's order and words, "LINE:COLUMN: parse error: …".
Status typecheck(const Expr& expr, std::string_view text);

}  // namespace vagt::query
