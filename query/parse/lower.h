// Syntax to the public tree, untyped faults found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/ast.h"
#include "query/parse.h"
#include "query/parse/syntax.h"

namespace vagt::query::syntax {

// Precedence applied, literals converted, functions looked up, types of nodes set. InvalidArgument:
// Prometheus's words.
Result<ExprPtr> lower_expression(const ExpressionSyntax& syntax, std::string_view text,
                                 const ParseOptions& options);
// Label names of by(), on() and their like, unquoted.
Result<std::vector<std::string>> lower_labels(const LabelsSyntax& syntax, std::string_view text);
// A name, matchers, or both; the matcher of a name outside the braces comes last.
Result<VectorSelector> lower_selector(const PrimarySyntax& syntax, std::string_view text);

}  // namespace vagt::query::syntax
