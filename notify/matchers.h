// Matchers as alertmanager.yml, amtool and the API spell them: two grammars and the rule between
// them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matcher.h"
#include "base/status.h"

namespace vagt::notify {

enum class MatcherSyntax : uint8_t {
  Fallback,  // both grammars; the classic result wins where they differ
  Classic,   // --enable-feature=classic-mode
  Utf8,      // --enable-feature=utf8-strict-mode
};

// `{a="b",c=~"d"}`, braces optional, in the order written. Empty text is an empty list.
Result<std::vector<Matcher>> parse_matchers(std::string_view text,
                                            MatcherSyntax syntax = MatcherSyntax::Fallback);
// One matcher without braces: amtool's arguments and the API's `filter`.
Result<Matcher> parse_matcher(std::string_view text,
                              MatcherSyntax syntax = MatcherSyntax::Fallback);

// `a="b"` with \, newline and " escaped; a name beyond [a-zA-Z_:][a-zA-Z0-9_:]* is quoted.
std::string matcher_text(const Matcher& matcher);
// `{a="b",c="d"}`, sorted by name.
std::string matchers_text(std::vector<Matcher> matchers);
void sort_matchers(std::vector<Matcher>& matchers);

// A label name under this syntax: legacy names only in Classic.
bool is_label_name(std::string_view name, MatcherSyntax syntax = MatcherSyntax::Fallback);

}  // namespace vagt::notify
