// The checks of one rule; each looks at one kind of mistake.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rules/lint/linter.h"

namespace vagt::rules {

struct CheckedRule {
  const Rule& rule;
  const RuleGroup& group;
  const LintSettings& settings;

  const query::Expr& expr() const { return rule_expr(rule); }
  const AlertRule* alert() const { return std::get_if<AlertRule>(&rule); }
};

// Takes a finding: code, the part it is about (null: the rule), text, what is better.
using Report = std::function<void(std::string_view code, const query::Expr* part, std::string text,
                                  std::string better)>;

void check_functions(const CheckedRule& rule, const Report& report);    // rate, increase, absent
void check_comparisons(const CheckedRule& rule, const Report& report);  // thresholds
void check_histograms(const CheckedRule& rule, const Report& report);
void check_joins(const CheckedRule& rule, const Report& report);
void check_timing(const CheckedRule& rule, const Report& report);     // for, ranges, intervals
void check_texts(const CheckedRule& rule, const Report& report);      // labels, annotations
void check_witnesses(const CheckedRule& rule, const Report& report);  // what the metric can tell

}  // namespace vagt::rules
