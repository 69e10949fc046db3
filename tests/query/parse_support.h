// Shared by the parser's tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "query/parse.h"

namespace vagt::query {

inline ParseOptions all_features() {
  ParseOptions options;
  options.experimental_functions = true;
  options.extended_range_selectors = true;
  options.binop_fill_modifiers = true;
  return options;
}

// The tree, or null with a failure recorded.
inline ExprPtr must_parse(std::string_view text, const ParseOptions& options = all_features()) {
  Result<ExprPtr> expr = parse_expr(text, options);
  EXPECT_TRUE(expr.ok()) << text << ": " << expr.status().message();
  return expr.ok() ? *expr : nullptr;
}

// What print_expr makes of the text, or the error's message.
inline std::string reprint(std::string_view text, const ParseOptions& options = all_features()) {
  const Result<ExprPtr> expr = parse_expr(text, options);
  return expr.ok() ? print_expr(**expr) : expr.error().message();
}

}  // namespace vagt::query
