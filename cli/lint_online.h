// What only a server can tell of rules: types of metrics, whether there is data, what they cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/context.h"
#include "rules/lint/linter.h"

namespace vagt::cli {

// Metric → type, of /api/v1/metadata.
Result<std::map<std::string, std::string, std::less<>>> metric_types(Context& context,
                                                                     const std::string& url);

// "no-data" for selectors that found nothing in the last hour, with the label that is to blame or
// the name that the metric has now.
Result<std::vector<rules::LintNote>> notes_on_data(Context& context, const std::string& url,
                                                   const rules::RuleFile& file);

struct RuleCost {
  std::string group, rule;
  double samples = 0;  // read by one evaluation
  double seconds = 0;
};
// Each rule's expression evaluated once, the dearest first.
Result<std::vector<RuleCost>> rule_costs(Context& context, const std::string& url,
                                         const rules::RuleFile& file);

}  // namespace vagt::cli
