#include "cli/check_rules.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <tuple>

#include "rules/rule_file.h"

namespace vagt::cli {
namespace {

using rules::Rule;

struct RuleKey {
  std::string name;
  rules::TextMap labels;
  friend bool operator<(const RuleKey& a, const RuleKey& b) {
    return std::tie(a.name, a.labels) < std::tie(b.name, b.labels);
  }
};

// Rules that write the same series; each extra one once.
std::vector<RuleKey> duplicates(const rules::RuleFile& file) {
  std::set<RuleKey> seen;
  std::vector<RuleKey> out;
  for (const auto& group : file.groups) {
    for (const Rule& rule : group.rules) {
      RuleKey key{rules::rule_name(rule), rules::rule_labels(rule)};
      if (!seen.insert(key).second) out.push_back(std::move(key));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string duplicates_text(const std::vector<RuleKey>& keys) {
  std::string out = "lint error " + std::to_string(keys.size()) + " duplicate rule(s) found.\n";
  for (const RuleKey& key : keys) {
    out += "Metric: " + key.name + "\nLabel(s):\n";
    for (const auto& [name, value] : key.labels) out += "\t" + name + ": " + value + "\n";
  }
  return out + "Might cause inconsistency while recording expressions";
}

rules::RuleFileOptions file_options(const CheckRules& check) {
  rules::RuleFileOptions options;
  options.ignore_unknown_fields = check.ignore_unknown_fields;
  for (const std::string& feature : check.features) {
    if (feature == "promql-experimental-functions") options.parse.experimental_functions = true;
    if (feature == "promql-extended-range-selectors") options.parse.extended_range_selectors = true;
    if (feature == "promql-binop-fill-modifiers") options.parse.binop_fill_modifiers = true;
  }
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
  const bool checks_duplicates =
      check.lint.checks == "all" || check.lint.checks == "duplicate-rules";
  const auto twice = checks_duplicates ? duplicates(result.file) : std::vector<RuleKey>();
  if (!twice.empty()) {
    verdict.has_lint_findings = true;
    context.err << "  FAILED:\n" << indent << duplicates_text(twice) << "\n";
    return;
  }
  size_t count = 0;
  for (const auto& group : result.file.groups) count += group.rules.size();
  context.out << "  SUCCESS: " << count << " rules found\n";
}

}  // namespace

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
