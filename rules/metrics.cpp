#include "rules/metrics.h"

namespace vagt::rules {

GroupMetrics GroupMetrics::make(base::Registry* registry, const Group& group) {
  GroupMetrics m;
  if (registry == nullptr) return m;
  const std::string key = group.definition().file + ";" + group.definition().name;
  const Labels labels = Labels::of({{"rule_group", key}});
  m.evaluations = &registry->counter("prometheus_rule_evaluations_total",
                                     "The total number of rule evaluations.", labels);
  m.failures = &registry->counter("prometheus_rule_evaluation_failures_total",
                                  "The total number of rule evaluation failures.", labels);
  m.iterations = &registry->counter(
      "prometheus_rule_group_iterations_total",
      "The total number of scheduled rule group evaluations, whether executed or missed.", labels);
  m.missed = &registry->counter(
      "prometheus_rule_group_iterations_missed_total",
      "The total number of rule group evaluations missed due to slow rule group evaluation.",
      labels);
  m.last_duration = &registry->gauge("prometheus_rule_group_last_duration_seconds",
                                     "The duration of the last rule group evaluation.", labels);
  m.last_timestamp =
      &registry->gauge("prometheus_rule_group_last_evaluation_timestamp_seconds",
                       "The timestamp of the last rule group evaluation in seconds.", labels);
  m.last_samples = &registry->gauge(
      "prometheus_rule_group_last_evaluation_samples",
      "The number of samples returned during the last rule group evaluation.", labels);
  m.interval = &registry->gauge("prometheus_rule_group_interval_seconds",
                                "The interval of a rule group.", labels);
  m.rules = &registry->gauge("prometheus_rule_group_rules", "The number of rules.", labels);
  m.interval->set(to_seconds(group.settings().interval));
  m.rules->set(static_cast<double>(group.definition().rules.size()));
  return m;
}

void GroupMetrics::evaluated(const GroupCounts& counts, Timestamp slot, double seconds) const {
  if (evaluations == nullptr) return;
  evaluations->add(static_cast<double>(counts.rules));
  failures->add(static_cast<double>(counts.failures));
  iterations->add();
  last_duration->set(seconds);
  last_timestamp->set(to_seconds(slot));
  last_samples->set(static_cast<double>(counts.samples));
}

void GroupMetrics::count_missed(int64_t slots) const {
  if (missed == nullptr || slots <= 0) return;
  missed->add(static_cast<double>(slots));
  iterations->add(static_cast<double>(slots));
}

}  // namespace vagt::rules
