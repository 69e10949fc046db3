// The functions of the template language itself.
#pragma once

#include <span>
#include <string_view>

#include "template/template.h"

namespace vagt::tmpl {

// `and`, `or`: the evaluator stops at the first operand that decides.
inline constexpr int kBuiltinAnd = 0, kBuiltinOr = 1;

// An index for call_builtin; -1 when there is no such function.
int find_builtin(std::string_view name);
std::string_view builtin_name(int index);
// Errors as Go words them, without the "error calling" in front.
Result<TemplateValue> call_builtin(int index, std::span<const TemplateValue> args);

}  // namespace vagt::tmpl
