#include "rules/metrics.h"

namespace vagt::rules {
namespace {

using Kind = base::Registry::Kind;

struct Family {
  Kind kind;
  const char* name;
  const char* help;
  double (*read)(const CountedGroup&);
};

constexpr Family kFamilies[] = {
    {Kind::Counter, "prometheus_rule_evaluations_total", "The total number of rule evaluations.",
     [](const CountedGroup& g) { return g.totals->evaluations.value(); }},
    {Kind::Counter, "prometheus_rule_evaluation_failures_total",
     "The total number of rule evaluation failures.",
     [](const CountedGroup& g) { return g.totals->failures.value(); }},
    {Kind::Counter, "prometheus_rule_group_iterations_total",
     "The total number of scheduled rule group evaluations, whether executed or missed.",
     [](const CountedGroup& g) { return g.totals->iterations.value(); }},
    {Kind::Counter, "prometheus_rule_group_iterations_missed_total",
     "The total number of rule group evaluations missed due to slow rule group evaluation.",
     [](const CountedGroup& g) { return g.totals->missed.value(); }},
    {Kind::Gauge, "prometheus_rule_group_last_duration_seconds",
     "The duration of the last rule group evaluation.",
     [](const CountedGroup& g) { return g.totals->last_duration.value(); }},
    {Kind::Gauge, "prometheus_rule_group_last_evaluation_timestamp_seconds",
     "The timestamp of the last rule group evaluation in seconds.",
     [](const CountedGroup& g) { return g.totals->last_timestamp.value(); }},
    {Kind::Gauge, "prometheus_rule_group_last_evaluation_samples",
     "The number of samples returned during the last rule group evaluation.",
     [](const CountedGroup& g) { return g.totals->last_samples.value(); }},
    {Kind::Gauge, "prometheus_rule_group_interval_seconds", "The interval of a rule group.",
     [](const CountedGroup& g) { return to_seconds(g.group->settings().interval); }},
    {Kind::Gauge, "prometheus_rule_group_rules", "The number of rules.",
     [](const CountedGroup& g) { return static_cast<double>(g.group->definition().rules.size()); }},
};

Labels group_labels(const Group& group) {
  return Labels::of({{"rule_group", group.definition().file + ";" + group.definition().name}});
}

}  // namespace

void GroupTotals::evaluated(const GroupCounts& counts, Timestamp slot, double seconds) {
  evaluations.add(static_cast<double>(counts.rules));
  failures.add(static_cast<double>(counts.failures));
  iterations.add();
  last_duration.set(seconds);
  last_timestamp.set(to_seconds(slot));
  last_samples.set(static_cast<double>(counts.samples));
}

void GroupTotals::count_missed(int64_t slots) {
  if (slots <= 0) return;
  missed.add(static_cast<double>(slots));
  iterations.add(static_cast<double>(slots));
}

std::vector<std::shared_ptr<void>> show_groups(base::Registry* registry,
                                               std::function<std::vector<CountedGroup>()> groups) {
  std::vector<std::shared_ptr<void>> tokens;
  if (registry == nullptr) return tokens;
  for (const Family& family : kFamilies) {
    tokens.push_back(registry->callback(
        family.kind, family.name, family.help,
        [groups, read = family.read](const std::function<void(const Labels&, double)>& emit) {
          for (const CountedGroup& one : groups()) emit(group_labels(*one.group), read(one));
        }));
  }
  return tokens;
}

}  // namespace vagt::rules
