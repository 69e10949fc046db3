// One rule group at work: runs its rules in order, writes their results, keeps and publishes its
// alerts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/kv_store.h"
#include "base/log.h"
#include "base/mutex.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "rules/alert_template.h"
#include "rules/alert_tracker.h"
#include "rules/rule.h"
#include "rules/rule_queries.h"
#include "rules/series_book.h"
#include "rules/state_store.h"
#include "rules/view.h"
#include "tsdb/store.h"

namespace vagt::rules {

// What all groups share; borrowed things outlive the groups.
struct GroupEnvironment {
  tsdb::Store* store = nullptr;
  KvStore* kv = nullptr;
  AlertSink* sink = nullptr;
  const Clock* clock = nullptr;  // latencies; null: none are measured
  base::Logger log;
  std::string external_url;
  query::EvalOptions eval;
  query::ParseOptions parse;
  Duration resend_delay = std::chrono::minutes(1);
  Duration outage_tolerance = std::chrono::hours(1);
  Duration grace_period = std::chrono::minutes(10);
  size_t max_template_bytes = 64u << 10;
};

// Decided by the global section of the configuration.
struct GroupSettings {
  Duration interval = std::chrono::minutes(1);
  Duration query_offset{};
  Labels external_labels;
  Duration subquery_step = std::chrono::minutes(1);  // of `[1h:]`: global.evaluation_interval
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

// Counts of one evaluation.
struct GroupCounts {
  size_t rules = 0, failures = 0, samples = 0;
};

class Group {
 public:
  Group(std::shared_ptr<const GroupEnvironment> environment, RuleGroup rules,
        GroupSettings settings);
  ~Group();

  const RuleGroup& definition() const { return definition_; }
  const GroupSettings& settings() const { return settings_; }
  // The same rules and settings: the group may run on through a reload.
  bool same_as(const RuleGroup& rules, const GroupSettings& settings) const;

  // Evaluation times are the multiples of the interval plus a phase that a stable hash of file and
  // name gives.
  Timestamp slot_at_or_before(Timestamp now) const;

  // Continues from what a run before this one left: exact states from the KvStore, else
  // ALERTS_FOR_STATE. Before the first evaluation, at most once.
  void restore(Timestamp now);
  // Takes over what rules of the same name and labels have at work in `old`, which must not be
  // evaluating.
  void take_state_from(Group& old);

  // One evaluation at the time `slot`. One thread at a time.
  GroupCounts evaluate(Timestamp slot, std::stop_token stop = {});

  // Ends the series of rules that this group has no more; `at` is the markers' time.
  Status end_series(Timestamp at);
  // Forgets the group's states on disk.
  void forget();

  GroupView view() const;        // any thread
  size_t active_alerts() const;  // any thread

 private:
  struct Runner;
  Status run_rule(Runner& runner, Timestamp slot, std::stop_token stop, GroupCounts& counts);
  Status run_record(Runner& runner, const query::Vector& result, ResultWriter& writer);
  Status run_alerts(Runner& runner, const query::Vector& result, Timestamp slot,
                    ResultWriter& writer);
  void write_alert_series(Runner& runner, ResultWriter& writer);
  void publish(Timestamp slot);
  void restore_from_series(Timestamp now);
  void restore_rule_from_series(Runner& runner, Timestamp now);
  void settle_after_outage(TrackedAlert& alert, const AlertTracker::Options& options,
                           Timestamp down_at, Timestamp now) const;

  const std::shared_ptr<const GroupEnvironment> env_;
  const RuleGroup definition_;
  const GroupSettings settings_;
  const uint64_t phase_hash_;

  // Owned by the evaluating thread.
  std::stop_token stop_;  // of the evaluation under way, for the queries of templates
  RuleQueries queries_;
  AlertTemplates templates_;
  GroupState state_;
  std::vector<std::pair<Labels, tsdb::SeriesRef>>
      orphans_;  // series of rules that a reload took away
  size_t evaluations_ = 0;
  bool restore_from_series_ = false;  // after the second evaluation

  // The runners belong to the evaluating thread, which takes mutex_ to change what views read:
  // alerts, health, timings.
  std::vector<std::unique_ptr<Runner>> runners_;
  mutable base::Mutex mutex_;
  double evaluation_seconds_ VAGT_GUARDED_BY(mutex_) = 0;
  std::optional<Timestamp> last_evaluation_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::rules
