// vagtctl check rules, and what check config says of the rule files it names.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "query/parse.h"

namespace vagt::cli {

struct LintOptions {
  std::string checks = "duplicate-rules";  // all, duplicate-rules, none
  bool is_fatal = false;                   // lint findings exit with 3
};

struct CheckRules {
  std::vector<std::string> files;
  LintOptions lint;
  std::vector<std::string> features;  // --enable-feature
  bool ignore_unknown_fields = false;
};
int check_rules(Context& context, const CheckRules& check);

struct RulesVerdict {
  bool failed = false, has_lint_findings = false;
  int exit_code(const LintOptions& lint) const {
    if (failed) return kFailure;
    return has_lint_findings && lint.is_fatal ? kLintFailure : kSuccess;
  }
};
// `indent` stands before each error, as promtool's two verbs differ in it.
RulesVerdict check_rule_files(Context& context, const CheckRules& check, const std::string& indent);

// --enable-feature; names that have nothing to do with PromQL pass.
query::ParseOptions parse_options(const std::vector<std::string>& features);

Status check_lint_name(const std::string& checks);

}  // namespace vagt::cli
