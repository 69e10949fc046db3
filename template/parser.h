// Tokens to trees.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "template/tree.h"

namespace vagt::tmpl {

struct ParseContext {
  const FunctionTable* functions = nullptr;
  std::span<const std::string> variables;  // "$labels": declared before the text begins
};

// The text itself becomes the tree `name`, each definition another one. InvalidArgument:
// "template: NAME:LINE:COLUMN: …". Trees keep pointers into the function table.
Result<TreeMap> parse_template(std::string_view name, std::string_view text,
                               const ParseContext& context);

// A Go string literal with its quotes; false when it is malformed.
bool unquote(std::string_view literal, std::string& out);

}  // namespace vagt::tmpl
