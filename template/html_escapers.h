// One escape per kind of place in an HTML document; each takes the value and gives text safe there.
#pragma once

#include <string>

#include "template/template.h"

namespace vagt::tmpl::html {

std::string text(const TemplateValue& value);    // between tags
std::string rcdata(const TemplateValue& value);  // in <title>, <textarea>
std::string attr(const TemplateValue& value);    // in a quoted attribute
std::string attr_unquoted(const TemplateValue& value);
std::string attr_name(const TemplateValue& value);
std::string comment(const TemplateValue& value);  // nothing
std::string url_filter(
    const TemplateValue& value);  // schemes other than http, https, mailto become #ZgotmplZ
std::string url_normal(const TemplateValue& value);  // keeps what has a meaning in a URL
std::string url_query(const TemplateValue& value);   // keeps nothing
std::string srcset(const TemplateValue& value);
std::string js_value(const TemplateValue& value);
std::string js_string(const TemplateValue& value);
std::string js_template_literal(const TemplateValue& value);
std::string js_regexp(const TemplateValue& value);
std::string css_value(const TemplateValue& value);
std::string css_string(const TemplateValue& value);

}  // namespace vagt::tmpl::html
