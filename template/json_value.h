// A template value as JSON, as Go's encoder writes it.
#pragma once

#include <string>

#include "template/template.h"

namespace vagt::tmpl {

// Objects that are maps or lists become these; times RFC 3339; InvalidArgument: NaN or infinite.
Result<std::string> to_json(const TemplateValue& value);

}  // namespace vagt::tmpl
