// Relabelling: rewrites or drops a label set. The same rules serve targets, samples and alerts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/regex.h"
#include "base/status.h"

namespace vagt::scrape {

enum class RelabelAction : uint8_t {
  Replace,
  Keep,
  Drop,
  KeepEqual,
  DropEqual,
  HashMod,
  LabelMap,
  LabelDrop,
  LabelKeep,
  Lowercase,
  Uppercase,
};
std::string_view relabel_action_name(RelabelAction action);         // "labelmap"
Result<RelabelAction> parse_relabel_action(std::string_view text);  // any case

// `metric_name_validation_scheme`.
enum class NameScheme : uint8_t { Utf8, Legacy };

struct RelabelConfig {
  std::vector<std::string> source_labels;
  std::string separator = ";";
  std::string regex = "(.*)";  // anchored at both ends
  uint64_t modulus = 0;
  std::string target_label;
  std::string replacement = "$1";
  RelabelAction action = RelabelAction::Replace;

  // InvalidArgument in Prometheus's words: a field the action needs is missing, or one it does not
  // take is set.
  Status validate(NameScheme scheme) const;
  friend bool operator==(const RelabelConfig&, const RelabelConfig&) = default;
};

// A list of rules compiled once; immutable, any thread.
class Relabeler {
 public:
  Relabeler() = default;  // changes nothing
  // InvalidArgument: a regex does not compile, or validate() refuses a rule.
  static Result<Relabeler> compile(std::span<const RelabelConfig> rules,
                                   NameScheme scheme = NameScheme::Utf8);

  bool empty() const { return rules_.empty(); }
  // False: the label set is dropped; `labels` is then in between.
  bool apply(LabelsBuilder& labels) const;
  // The set after each rule, for /api/v1/targets/relabel_steps: nullopt behind the rule that
  // dropped it.
  std::vector<std::pair<RelabelConfig, std::optional<Labels>>> steps(const Labels& labels) const;

 private:
  struct Rule {
    RelabelConfig config;
    Regex regex;
    bool is_constant = false;  // default regex and no $ in target and replacement: no match needed
    bool is_any = false;       // the default regex: matches all
  };
  bool apply_rule(const Rule& rule, LabelsBuilder& labels) const;
  void replace(const Rule& rule, std::string_view value, LabelsBuilder& labels) const;

  std::vector<Rule> rules_;
  NameScheme scheme_ = NameScheme::Utf8;
};

}  // namespace vagt::scrape
