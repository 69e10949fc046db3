// What a rule file says, after checking: groups of alerting and recording rules.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "query/ast.h"

namespace vagt::rules {

using TextMap = std::map<std::string, std::string>;

struct RulePosition {
  int line = 0, column = 0;  // from 1
};

struct AlertRule {
  std::string name;
  query::ExprPtr expr;
  Duration hold_for{}, keep_firing_for{};
  TextMap labels, annotations;  // templates; the group's labels are merged in, the rule's own win
  RulePosition where;
};

struct RecordRule {
  std::string name;
  query::ExprPtr expr;
  TextMap labels;  // taken literally; the group's labels are merged in
  RulePosition where;
};

using Rule = std::variant<AlertRule, RecordRule>;
const std::string& rule_name(const Rule& rule);
const query::Expr& rule_expr(const Rule& rule);
const TextMap& rule_labels(const Rule& rule);
RulePosition rule_position(const Rule& rule);

struct RuleGroup {
  std::string name, file;
  std::optional<Duration> interval;      // absent: the global evaluation_interval
  std::optional<Duration> query_offset;  // absent: the global rule_query_offset
  size_t limit = 0;                      // alerts or series one rule may give; 0: any number
  TextMap labels;
  std::vector<Rule> rules;
  RulePosition where;
};

struct RuleFile {
  std::string path;
  std::vector<RuleGroup> groups;
};

}  // namespace vagt::rules
