// Turns what a rule publishes over time into alerts with a beginning and an end.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/alert.h"
#include "rules/replay/replay_result.h"

namespace vagt::rules {

// Of one rule.
class AlertCollector {
 public:
  // A message as AlertTracker::take_due() gives it. True: the alert has just begun to fire.
  bool hear(const Alert& alert);
  // The annotations of the alert that began last.
  void annotate(Annotations annotations) { alerts_.back().annotations = std::move(annotations); }
  // All alerts are forgotten: their rule went over its limit.
  void end_all(Timestamp at);
  // In the order in which they fired. An alert that nobody spoke of until `to` ended when its last
  // message ran out.
  std::vector<ReplayedAlert> finish(Timestamp to);
  size_t size() const { return alerts_.size(); }

 private:
  struct Open {
    size_t alert = 0;  // position in alerts_
    Timestamp valid_until{};
  };
  std::vector<ReplayedAlert> alerts_;
  std::unordered_map<Labels, Open, LabelsHash> open_;
};

}  // namespace vagt::rules
