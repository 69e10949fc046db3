// The plain escapes of text/template: html, js, urlquery.
#pragma once

#include <string>
#include <string_view>

namespace vagt::tmpl {

std::string escape_html(std::string_view text);
std::string escape_js(std::string_view text);
// url.QueryEscape: a space becomes +.
std::string escape_query(std::string_view text);

}  // namespace vagt::tmpl
