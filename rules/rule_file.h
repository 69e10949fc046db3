// Rule files from text to checked structs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/parse.h"
#include "rules/rule.h"

namespace vagt::rules {

struct RuleFileOptions {
  query::ParseOptions parse;
  bool ignore_unknown_fields = false;
};

struct RuleFileResult {
  RuleFile file;
  std::vector<Status> errors;  // "FILE:LINE:COLUMN: group "g", rule 1, "x": …", all of them; empty:
                               // the file is good
};

// Strict keys, expressions, names, duplicate groups, label names, template syntax.
RuleFileResult parse_rule_file(std::string_view text, const std::string& path,
                               const RuleFileOptions& options = {});
// Reads and parses. A file that cannot be read is the one error.
RuleFileResult read_rule_file(const std::string& path, const RuleFileOptions& options = {});
// The same for callers that only want a good file; the message holds every error, one per line.
Result<RuleFile> load_rule_file(const std::string& path, const RuleFileOptions& options = {});

}  // namespace vagt::rules
