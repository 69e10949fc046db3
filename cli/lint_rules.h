// vagtctl lint rules: what loads but does not do what was meant.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct LintRules {
  std::vector<std::string> files, features;
  bool is_fatal = false;
  std::string scrape_interval = "15s", evaluation_interval;
  std::string url;          // a server to ask for types and data; "" asks none
  bool shows_cost = false;  // one evaluation each, on that server
};
int lint_rules(Context& context, const LintRules& options);

}  // namespace vagt::cli
