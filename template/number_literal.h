// Go's number and character constants.
#pragma once

#include <string_view>

#include "template/template.h"

namespace vagt::tmpl {

struct NumberLiteral {
  TemplateValue value;    // int64_t, double, or an imaginary number that can only be printed
  bool integral = false;  // has an integer value: 1, 1.0, 'a'
};

// InvalidArgument: "bad number syntax: …", "malformed character constant: …", "integer overflow:
// …".
Result<NumberLiteral> parse_number_literal(std::string_view text, bool character);

}  // namespace vagt::tmpl
