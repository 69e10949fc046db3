// What stands behind an operand: ranges, sub-queries, offset, @, anchored and smoothed.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "query/ast.h"
#include "query/parse.h"
#include "query/parse/syntax.h"

namespace vagt::query::syntax {

// The operand with the suffix taken in; nobody else may hold `expr` yet.
Result<std::shared_ptr<Expr>> apply_suffix(std::shared_ptr<Expr> expr, const SuffixSyntax& suffix,
                                           std::string_view text, const ParseOptions& options);

}  // namespace vagt::query::syntax
