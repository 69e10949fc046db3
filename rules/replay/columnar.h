// One group replayed rule by rule: each expression as range queries, its alerts stepped only where
// something changes.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "rules/group.h"
#include "rules/replay/collector.h"
#include "rules/rule_queries.h"

namespace vagt::rules {

// Slots of a group: first, first + interval, …
struct SlotRange {
  Timestamp first{};
  size_t count = 0;
  Duration interval{};
  Timestamp at(size_t slot) const { return first + static_cast<int64_t>(slot) * interval; }
};

class ColumnarGroup {
 public:
  // `rules` outlives this; its `results` are where the rules' findings go, one for each rule.
  ColumnarGroup(const GroupEnvironment& environment, const RuleGroup& rules,
                const GroupSettings& settings, std::vector<ReplayedRule*> results);
  ~ColumnarGroup();

  // The next slots, in order. Errors: Cancelled, and what the store said.
  Status run(const SlotRange& slots, std::stop_token stop);
  size_t alerts() const;  // that fired up to now
  void finish(Timestamp to);

 private:
  class RuleReplay;
  class AlertReplay;
  class RecordReplay;
  const Clock* const clock_;
  RuleQueries queries_;
  std::vector<ReplayedRule*> results_;
  std::vector<std::unique_ptr<RuleReplay>> rules_;
};

}  // namespace vagt::rules
