// JSON documents whose strings are templates, and rendered text that is YAML turned into JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "notify/notifier.h"

namespace vagt::notify {

// `json` with every string value (not the keys) rendered. `structured`: a rendered text that is
// YAML becomes that structure. InvalidArgument: not JSON, or a template failed.
Result<std::string> render_json(std::string_view json, std::string_view field, bool structured,
                                Renderer& r);

// JSON for a text that may be YAML: maps, lists, numbers, booleans; anything else is a JSON string.
std::string yaml_text_to_json(const std::string& text);

// A member of a JSON object, as text; "" when the body is no object, or the member is absent.
std::string json_member(std::string_view body, std::string_view name);
// False only when the body is an object with this member false.
bool json_member_is_false(std::string_view body, std::string_view name);

}  // namespace vagt::notify
