// promtool's lint: rules that write the same series.
#pragma once

#include <string>
#include <vector>

#include "rules/rule.h"

namespace vagt::rules {

// Rules of the same name and labels, over all groups, in promtool's words; "" when there are none.
std::string duplicate_rules(const std::vector<RuleGroup>& groups);

}  // namespace vagt::rules
