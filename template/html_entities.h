// HTML character references.
#pragma once

#include <string>
#include <string_view>

namespace vagt::tmpl::html {

// &amp; &lt; &#39; &#x27; and the other references that occur in attribute values; unknown ones
// stay.
std::string decode_entities(std::string_view text);

}  // namespace vagt::tmpl::html
