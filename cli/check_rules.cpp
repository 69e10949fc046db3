#include "cli/check_rules.h"

#include <filesystem>
#include <ostream>

#include "rules/lint/duplicates.h"
#include "rules/rule_file.h"

namespace vagt::cli {
namespace {

rules::RuleFileOptions file_options(const CheckRules& check) {
  rules::RuleFileOptions options;
  options.ignore_unknown_fields = check.ignore_unknown_fields;
  options.parse = parse_options(check.features);
  return options;
}

void check_file(Context& context, const std::string& path, const CheckRules& check,
                const std::string& indent, RulesVerdict& verdict) {
  const auto result = rules::read_rule_file(path, file_options(check));
  if (!result.errors.empty()) {
    verdict.failed = true;
    context.err << "  FAILED:\n";
    for (const Status& error : result.errors) context.err << indent << error.message() << "\n";
    return;
  }
  const auto& groups = result.file.groups;
  const std::string twice =
      check.lint.checks == "none" ? std::string() : rules::duplicate_rules(groups);
  if (!twice.empty()) {
    verdict.has_lint_findings = true;
    context.err << "  FAILED:\n" << indent << "lint error " << twice << "\n";
    return;
  }
  size_t count = 0;
  for (const auto& group : groups) count += group.rules.size();
  context.out << "  SUCCESS: " << count << " rules found\n";
}

}  // namespace

query::ParseOptions parse_options(const std::vector<std::string>& features) {
  query::ParseOptions options;
  for (const std::string& feature : features) {
    if (feature == "promql-experimental-functions") options.experimental_functions = true;
    if (feature == "promql-extended-range-selectors") options.extended_range_selectors = true;
    if (feature == "promql-binop-fill-modifiers") options.binop_fill_modifiers = true;
  }
  return options;
}

Status check_lint_name(const std::string& checks) {
  if (checks == "all" || checks == "duplicate-rules" || checks == "none") return {};
  return Status::invalid("unknown lint option: " + checks +
                         " (expected all, duplicate-rules or none)");
}

RulesVerdict check_rule_files(Context& context, const CheckRules& check,
                              const std::string& indent) {
  RulesVerdict verdict;
  for (const std::string& file : check.files) {
    context.out << "Checking " << file << std::endl;  // before what goes to standard error
    check_file(context, file, check, indent, verdict);
    context.out << "\n";
  }
  return verdict;
}

int check_rules(Context& context, const CheckRules& check) {
  if (const Status status = check_lint_name(check.lint.checks); !status.ok())
    return context.fail(status);
  for (const std::string& file : check.files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
      return context.fail("path '" + file + "' does not exist");
  }
  return check_rule_files(context, check, "").exit_code(check.lint);
}

}  // namespace vagt::cli
