// Self-metrics of the rules, named as Prometheus names them.
#pragma once

#include <string>

#include "base/metrics.h"
#include "rules/group.h"

namespace vagt::rules {

// The counters of one group; handles into the registry.
struct GroupMetrics {
  base::Counter* evaluations = nullptr;
  base::Counter* failures = nullptr;
  base::Counter* iterations = nullptr;
  base::Counter* missed = nullptr;
  base::Gauge* last_duration = nullptr;
  base::Gauge* last_timestamp = nullptr;
  base::Gauge* last_samples = nullptr;
  base::Gauge* interval = nullptr;
  base::Gauge* rules = nullptr;

  // Null registry: all handles stay null.
  static GroupMetrics make(base::Registry* registry, const Group& group);
  void evaluated(const GroupCounts& counts, Timestamp slot, double seconds) const;
  void count_missed(int64_t slots) const;
};

}  // namespace vagt::rules
