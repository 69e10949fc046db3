// Rules that load but do not do what was meant: `vagtctl lint rules`. Each kind of finding has a
// page in docs/lint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/lint/metric_nature.h"
#include "rules/rule.h"

namespace vagt::rules {

struct LintNote {
  std::string_view code;  // "rate-on-gauge"; docs/lint/<code>.md
  std::string file, group, rule;
  RulePosition where;   // of the rule
  std::string excerpt;  // the part of the expression it is about; "" for the whole rule
  std::string text;     // what is wrong, and why
  std::string better;   // what to write instead; "" when it depends
};

struct LintSettings {
  std::optional<Duration> evaluation_interval;  // of groups without one; unknown when absent
  Duration scrape_interval = std::chrono::seconds(15);
  MetricCatalog catalog;
};

// In the order of the file. `text` is the file's: a comment `# lint: allow CODE, CODE` within a
// rule, or on the lines above it, silences these codes for the rule; above `groups:` for the file.
std::vector<LintNote> lint_rule_file(const RuleFile& file, std::string_view text,
                                     const LintSettings& settings);

// All codes with one line each, for --help and the documentation.
struct LintCode {
  std::string_view code, meaning;
};
const std::vector<LintCode>& lint_codes();

}  // namespace vagt::rules
