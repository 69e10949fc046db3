#include "cli/matcher_arguments.h"

#include "notify/matchers.h"

namespace vagt::cli {

std::vector<std::string> with_alertname(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  std::string& first = arguments.front();
  // A word with an operator is a matcher that went wrong, not a name: its error must be seen.
  if (first.find_first_of("=~") == std::string::npos) first = "alertname=" + first;
  return arguments;
}

Result<std::vector<Matcher>> parse_matcher_arguments(const std::vector<std::string>& arguments) {
  std::vector<Matcher> out;
  for (const std::string& argument : arguments) {
    VAGT_TRY(Matcher matcher, notify::parse_matcher(argument, notify::MatcherSyntax::Classic));
    out.push_back(std::move(matcher));
  }
  return out;
}

}  // namespace vagt::cli
