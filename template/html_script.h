// Contexts inside scripts, style sheets and URLs.
#pragma once

#include "template/html_context.h"

namespace vagt::tmpl::html {

Context in_url(Context context, std::string_view text, size_t& read);
// The states Js… and Css….
Context in_script_or_style(Context context, std::string_view text, size_t& read);
// CSS escapes (`\3c `) decoded.
std::string decode_css(std::string_view text);

}  // namespace vagt::tmpl::html
