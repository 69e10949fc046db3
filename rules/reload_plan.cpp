#include "rules/reload_plan.h"

#include <fmt/core.h>

#include <map>
#include <set>

namespace vagt::rules {
namespace {

using GroupName = std::pair<std::string, std::string>;  // file, name

GroupName name_of(const RuleGroup& group) { return {group.file, group.name}; }

GroupSettings settings_of(const RuleGroup& group, const GlobalRuleSettings& settings) {
  return {group.interval.value_or(settings.evaluation_interval),
          group.query_offset.value_or(settings.query_offset), settings.external_labels,
          settings.evaluation_interval};
}

}  // namespace

Result<ReloadPlan> plan_reload(const std::vector<ScheduledGroupPtr>& now,
                               std::vector<RuleFile> files, const GlobalRuleSettings& settings) {
  std::map<GroupName, ScheduledGroupPtr> old;
  for (const ScheduledGroupPtr& group : now) old[name_of(group->group->definition())] = group;
  std::set<GroupName> names;
  ReloadPlan plan;
  for (RuleFile& file : files) {
    for (RuleGroup& group : file.groups) {
      const GroupName name = name_of(group);
      if (!names.insert(name).second) {
        return Status::invalid(
            fmt::format("{}: groupname: {} is repeated", group.file, quote(group.name)));
      }
      ReloadPlan::Entry entry{std::move(group), {}, nullptr, false};
      entry.settings = settings_of(entry.rules, settings);
      if (const auto found = old.find(name); found != old.end()) {
        entry.old = found->second;
        entry.runs_on = entry.old->group->same_as(entry.rules, entry.settings);
        if (!entry.runs_on) plan.leaving.push_back(entry.old);
        old.erase(found);
      }
      plan.entries.push_back(std::move(entry));
    }
  }
  for (const auto& [name, group] : old) plan.gone.push_back(group);
  plan.leaving.insert(plan.leaving.end(), plan.gone.begin(), plan.gone.end());
  return plan;
}

}  // namespace vagt::rules
