// Text to typed syntax tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/ast.h"

namespace vagt::query {

struct ParseOptions {
  bool experimental_functions = false;    // --enable-feature=promql-experimental-functions
  bool extended_range_selectors = false;  // promql-extended-range-selectors
  bool binop_fill_modifiers = false;      // promql-binop-fill-modifiers
  bool duration_expressions = true;       // on by default since Prometheus 3.14
  size_t max_depth = 1000;                // height of the tree; a row of operators makes one too
  size_t max_nesting = 500;               // of parentheses
  size_t max_bytes = 1u << 20;            // length of the text
};

// Parsed and type-checked. InvalidArgument: the message is Prometheus's, beginning "LINE:COLUMN:
// parse error: ".
Result<ExprPtr> parse_expr(std::string_view text, const ParseOptions& options);
// A vector selector alone, as match[] and rule filters take it. The same errors, but, as in
// Prometheus, one whose matchers all match the empty string passes: the caller decides.
Result<std::vector<Matcher>> parse_metric_selector(std::string_view text);

// PromQL text of a tree; parse(print(e)) is e.
std::string print_expr(const Expr& expr);
// Over several lines, as /api/v1/format_query answers.
std::string format_expr(const Expr& expr);

}  // namespace vagt::query
