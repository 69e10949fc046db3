// Which groups a reload keeps, replaces and ends. Pure.
#pragma once

#include <vector>

#include "rules/manager.h"
#include "rules/scheduler.h"

namespace vagt::rules {

struct ReloadPlan {
  struct Entry {
    RuleGroup rules;
    GroupSettings settings;
    ScheduledGroupPtr old;  // of the same file and name, or null
    bool runs_on = false;   // `old` has the same rules and settings
  };
  std::vector<Entry> entries;
  std::vector<ScheduledGroupPtr> gone;     // nothing has their name any more
  std::vector<ScheduledGroupPtr> leaving;  // gone or replaced
};

// InvalidArgument: two groups of the same file and name.
Result<ReloadPlan> plan_reload(const std::vector<ScheduledGroupPtr>& now,
                               std::vector<RuleFile> files, const GlobalRuleSettings& settings);

}  // namespace vagt::rules
