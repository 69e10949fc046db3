// Pieces of PromQL text that the one-line and the many-line printer share.
#pragma once

#include <string>

#include "query/ast.h"

namespace vagt::query {

// "sum by (job) " or "sum".
std::string aggregate_head(const Aggregate& node);
// "== bool on (a) group_left (b)".
std::string operator_text(const Binary& node);
// "[5m:30s] @ end() offset 1m".
std::string subquery_tail(const Subquery& node);

// "+Inf ^ x" would be +(Inf ^ x): the only literal that prints with a sign it was not given loses
// it there.
bool prints_bare_infinity(const Binary& node);

}  // namespace vagt::query
