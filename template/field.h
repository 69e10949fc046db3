// `.name` on a value, with and without arguments.
#pragma once

#include <span>
#include <string_view>

#include "template/template.h"

namespace vagt::tmpl {

// A field, a method without arguments or a map entry. InvalidArgument: "can't evaluate field X in
// type T".
Result<TemplateValue> field_of(const TemplateValue& value, std::string_view name,
                               MissingKey missing);
// A method with arguments.
Result<TemplateValue> method_of(const TemplateValue& value, std::string_view name,
                                std::span<const TemplateValue> args);

}  // namespace vagt::tmpl
