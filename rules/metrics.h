// Self-metrics of the rules, named as Prometheus names them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/metrics.h"
#include "rules/group.h"

namespace vagt::rules {

// What one group has counted; outlives the group's definition, so that a reload resets nothing.
// Any thread.
class GroupTotals {
 public:
  void evaluated(const GroupCounts& counts, Timestamp slot, double seconds);
  void count_missed(int64_t slots);

  base::Counter evaluations, failures, iterations, missed;
  base::Gauge last_duration, last_timestamp, last_samples;
};

// One group as the metrics show it.
struct CountedGroup {
  std::shared_ptr<const Group> group;
  std::shared_ptr<const GroupTotals> totals;
};

// Shows the groups that `groups` lists when the page is rendered, and no others. They are gone from
// the page with the tokens. Null registry: nothing.
std::vector<std::shared_ptr<void>> show_groups(base::Registry* registry,
                                               std::function<std::vector<CountedGroup>()> groups);

}  // namespace vagt::rules
