// The two matcher grammars by themselves; matchers.h decides between them.
#pragma once

#include <string_view>
#include <vector>

#include "base/matcher.h"
#include "base/status.h"

namespace vagt::notify {

// Alertmanager's first parser: braces are cut off unpaired, unknown escapes keep their backslash.
Result<std::vector<Matcher>> parse_classic_matchers(std::string_view text);
Result<Matcher> parse_classic_matcher(std::string_view text);

// The grammar since 0.27: braces both or none, names and values bare or in double quotes with Go's
// escapes. Errors begin with the byte range, as "0:1: …".
Result<std::vector<Matcher>> parse_utf8_matchers(std::string_view text);

}  // namespace vagt::notify
