// What /api/v1/rules, /api/v1/alerts and the page show of the rules: plain copies, safe to keep.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alert.h"
#include "rules/rule.h"

namespace vagt::rules {

enum class RuleHealth : uint8_t { Unknown, Good, Bad };
std::string_view rule_health_name(RuleHealth health);  // "unknown", "ok", "err"

struct AlertView {
  Labels labels;
  std::shared_ptr<const Annotations> annotations;
  AlertState state = AlertState::Pending;
  double value = 0;
  Timestamp active_at{};
  std::optional<Timestamp> keep_firing_since;
};

struct RuleView {
  bool alerting = false;
  std::string name, query;  // query: as print_expr prints it
  Duration hold_for{}, keep_firing_for{};
  TextMap labels, annotations;
  std::optional<AlertState> state;  // alerting only; absent before the first evaluation ("unknown")
  RuleHealth health = RuleHealth::Unknown;
  std::string last_error;
  double evaluation_seconds = 0;
  std::optional<Timestamp> last_evaluation;
  std::vector<AlertView> alerts;  // pending and firing, in label order
};

struct GroupView {
  std::string name, file;
  Duration interval{}, query_offset{};
  size_t limit = 0;
  std::vector<RuleView> rules;
  double evaluation_seconds = 0;
  std::optional<Timestamp> last_evaluation;
};

}  // namespace vagt::rules
