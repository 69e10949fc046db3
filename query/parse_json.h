// The syntax tree as JSON.
#pragma once

#include <string>

#include "query/ast.h"

namespace vagt::query {

// The object that /api/v1/parse_query answers with: keys sorted, durations and instants in
// milliseconds.
std::string expr_to_json(const Expr& expr);

}  // namespace vagt::query
