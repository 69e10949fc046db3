// Runs a parsed template.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "template/tree.h"

namespace vagt::tmpl {

struct EvalContext {
  const TreeMap* own = nullptr;     // definitions of the text itself; they win
  const TreeMap* shared = nullptr;  // definitions of the set
  MissingKey missing = MissingKey::Zero;
  Limits limits;
  std::span<const std::pair<std::string, std::string>> variables;  // name, field of the data
};

// InvalidArgument: "template: NAME:LINE:COLUMN: executing "NAME" at <…>: …". LimitExceeded: output,
// steps or depth.
Result<std::string> evaluate(const Tree& tree, const TemplateValue& data,
                             const EvalContext& context);

}  // namespace vagt::tmpl
