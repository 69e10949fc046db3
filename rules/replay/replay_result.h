// What a replay found: plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/labels.h"
#include "base/time.h"
#include "rules/rule.h"

namespace vagt::rules {

// One alert from its first sign to its end.
struct ReplayedAlert {
  Labels labels;            // with alertname, without external labels
  Annotations annotations;  // as it began to fire
  double value = 0;         // then
  Timestamp active_at{}, fired_at{};
  std::optional<Timestamp> resolved_at;  // none: it still fired at the end
};

struct ReplayedRule {
  std::string file, group, name, query;  // query: as print_expr prints it
  bool alerting = false;
  TextMap labels, annotations;  // as the file has them
  Duration interval{}, hold_for{}, keep_firing_for{};
  uint64_t evaluations = 0, failures = 0;
  std::string last_error;
  double seconds = 0;                 // spent on it; of groups in lockstep: unknown, 0
  std::vector<ReplayedAlert> alerts;  // in the order in which they fired
};

struct Replay {
  Timestamp from{}, to{};
  Labels external_labels;
  std::vector<ReplayedRule> rules;  // in the order of the files
};

}  // namespace vagt::rules
