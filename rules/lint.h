// What `check rules` says about rules that load but are likely wrong.
#pragma once

#include <string>
#include <vector>

#include "rules/rule.h"

namespace vagt::rules {

struct LintFinding {
  std::string text;  // promtool's, or one line "FILE:LINE:COLUMN: …" for our own
  bool duplicate =
      false;  // promtool's duplicate-rules; all others are hints that never fail a check
};

// duplicate-rules: rules of the same name and labels, over all groups. promtool's text.
std::vector<LintFinding> lint_duplicates(const std::vector<RuleGroup>& groups);
// Comparisons of increase() with ==, histogram bounds written without a decimal point.
std::vector<LintFinding> lint_expressions(const std::vector<RuleGroup>& groups);

}  // namespace vagt::rules
