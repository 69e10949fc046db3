#include "rules/lint/duplicates.h"

#include <fmt/core.h>

#include <set>
#include <utility>

namespace vagt::rules {

std::string duplicate_rules(const std::vector<RuleGroup>& groups) {
  std::vector<std::pair<std::string, TextMap>> duplicates;
  std::set<std::pair<std::string, TextMap>> seen;
  for (const RuleGroup& group : groups) {
    for (const Rule& rule : group.rules) {
      const auto key = std::pair(rule_name(rule), rule_labels(rule));
      if (!seen.insert(key).second) duplicates.push_back(key);
    }
  }
  if (duplicates.empty()) return "";
  std::set<std::pair<std::string, TextMap>> reported;
  std::string text;
  for (const auto& key : duplicates) {
    if (!reported.insert(key).second) continue;
    text += fmt::format("Metric: {}\nLabel(s):\n", key.first);
    for (const auto& [name, value] : key.second) text += fmt::format("\t{}: {}\n", name, value);
  }
  return fmt::format(
      "{} duplicate rule(s) found.\n{}Might cause inconsistency while recording expressions",
      reported.size(), text);
}

}  // namespace vagt::rules
