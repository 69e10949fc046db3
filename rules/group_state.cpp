// How a group continues: after a restart from disk or from ALERTS_FOR_STATE, after a reload from
// the old group.
#include <algorithm>
#include <map>

#include "base/matcher.h"
#include "base/sample.h"
#include "rules/group.h"
#include "rules/runner.h"

namespace vagt::rules {

namespace {

// Whether somebody kept alert states in this store: without any there is nothing to wait for.
bool has_old_series(tsdb::Store& store, Timestamp start, Timestamp end) {
  const Matcher matchers[] = {Matcher::equal(std::string(kMetricName), "ALERTS_FOR_STATE")};
  const auto querier = store.querier(start, end);
  return querier->select(matchers, {start, end, "series"})->next();
}

}  // namespace

void Group::restore(Timestamp now) {
  Result<std::optional<Timestamp>> last = state_.last_evaluation();
  if (!last) {
    env_->log.warn("Alert states could not be read",
                   {{"group", definition_.name}, {"err", last.error().message()}});
  }
  if (!last || !last->has_value()) {
    restore_from_series_ = has_old_series(*env_->store, now - env_->outage_tolerance, now);
    if (!restore_from_series_) return;
    for (const auto& runner : runners_) runner->restored = runner->tracker == nullptr;
    return;
  }
  const Timestamp down_at = **last;
  auto records = state_.load();
  if (!records) {
    env_->log.warn("Alert states could not be read",
                   {{"group", definition_.name}, {"err", records.error().message()}});
    return;
  }
  const bool forgotten = now - down_at > env_->outage_tolerance;
  const bool long_outage = now - down_at > env_->eval.lookback;
  if (forgotten) forget();
  base::MutexLock lock(mutex_);
  for (const auto& runner : runners_) {
    const auto found = records->find(runner->key);
    if (!runner->tracker || found == records->end() || forgotten) continue;
    for (TrackedAlert& alert : found->second) {
      if (long_outage) settle_after_outage(alert, runner->tracker->options(), down_at, now);
      runner->tracker->restore(std::move(alert));
    }
    // The first results after a long outage are incomplete: what is missing from them has not
    // healed.
    if (long_outage) runner->tracker->hold_missing_until(now + 3 * settings_.interval);
  }
}

// Prometheus's rule: time in an outage does not count as pending, and a `for` nearly over waits the
// grace period.
void Group::settle_after_outage(TrackedAlert& alert, const AlertTracker::Options& options,
                                Timestamp down_at, Timestamp now) const {
  if (alert.state != AlertState::Pending) return;
  if (options.hold_for < env_->grace_period) {
    alert.active_at = now;
    return;
  }
  const Duration remaining = options.hold_for - (down_at - alert.active_at);
  if (remaining <= Duration{}) return;
  if (remaining < env_->grace_period) {
    alert.active_at = now + env_->grace_period - options.hold_for;
  } else {
    alert.active_at += now - down_at;
  }
}

void Group::restore_from_series(Timestamp now) {
  restore_from_series_ = false;
  for (const auto& runner : runners_) {
    if (runner->restored) continue;
    if (runner->tracker->options().hold_for >= env_->grace_period)
      restore_rule_from_series(*runner, now);
    runner->restored = true;
  }
}

void Group::restore_rule_from_series(Runner& runner, Timestamp now) {
  std::vector<Matcher> matchers{Matcher::equal(std::string(kMetricName), "ALERTS_FOR_STATE"),
                                Matcher::equal(std::string(kAlertName), rule_name(*runner.rule))};
  const Timestamp start = now - env_->outage_tolerance;
  const auto querier = env_->store->querier(start, now);
  const auto cursor = querier->select(matchers, {start, now, ""});
  std::map<Labels, Sample> last;
  while (cursor->next()) {
    SampleColumns columns;
    while (cursor->read(columns, 1024)) {
    }
    if (columns.size() == 0 || is_stale(columns.v.back())) continue;
    last[LabelsBuilder(cursor->labels()).erase(kMetricName).build()] = {columns.t.back(),
                                                                        columns.v.back()};
  }
  const Duration hold = runner.tracker->options().hold_for;
  base::MutexLock lock(mutex_);
  for (auto& [labels, alert] : runner.tracker->alerts()) {
    const auto found = last.find(labels);
    if (found == last.end() || alert.state == AlertState::Inactive) continue;
    Timestamp active_at = from_millis(static_cast<int64_t>(found->second.v) * 1000);
    const Duration remaining = hold - (found->second.t - active_at);
    if (remaining > Duration{}) {
      active_at = remaining < env_->grace_period ? now + env_->grace_period - hold
                                                 : active_at + (now - found->second.t);
    }
    alert.active_at = active_at;
    alert.change = TrackedAlert::Change::State;
  }
}

void Group::take_state_from(Group& old) {
  std::map<std::string, Runner*> by_key;
  for (const auto& runner : old.runners_) by_key[runner->key] = runner.get();
  base::MutexLock lock(mutex_);
  for (const auto& runner : runners_) {
    const auto found = by_key.find(runner->key);
    if (found == by_key.end()) continue;
    Runner& from = *found->second;
    by_key.erase(found);
    std::swap(runner->book, from.book);
    runner->restored = from.restored;
    runner->health = from.health;
    runner->last_error = from.last_error;
    runner->evaluation_seconds = from.evaluation_seconds;
    runner->last_evaluation = from.last_evaluation;
    if (!runner->tracker || !from.tracker) continue;
    const AlertTracker::Options options = runner->tracker->options();
    std::swap(runner->tracker, from.tracker);
    runner->tracker->set_options(options);
  }
  restore_from_series_ = old.restore_from_series_;
  evaluations_ = old.evaluations_;
  // What the old group wrote for rules that are gone ends with the next evaluation.
  for (auto& [key, runner] : by_key) {
    runner->book.begin_round();
    for (auto& gone : runner->book.sweep()) orphans_.push_back(std::move(gone));
    if (!runner->tracker) continue;
    AlertTracker empty(runner->tracker->options());
    for (const auto& entry : runner->tracker->alerts()) empty.drop(entry.first);
    state_.add_changes(key, empty);
  }
}

GroupView Group::view() const {
  GroupView view;
  view.name = definition_.name, view.file = definition_.file;
  view.interval = settings_.interval, view.query_offset = settings_.query_offset;
  view.limit = definition_.limit;
  base::MutexLock lock(mutex_);
  view.evaluation_seconds = evaluation_seconds_;
  view.last_evaluation = last_evaluation_;
  for (const auto& runner : runners_) {
    RuleView& rule = view.rules.emplace_back();
    rule.name = rule_name(*runner->rule);
    rule.query = runner->query;
    rule.labels = rule_labels(*runner->rule);
    rule.health = runner->health;
    rule.last_error = runner->last_error;
    rule.evaluation_seconds = runner->evaluation_seconds;
    rule.last_evaluation = runner->last_evaluation;
    const AlertRule* alert = runner->alert();
    if (alert == nullptr) continue;
    rule.alerting = true;
    rule.hold_for = alert->hold_for, rule.keep_firing_for = alert->keep_firing_for;
    rule.annotations = alert->annotations;
    if (runner->last_evaluation) rule.state = runner->tracker->state();
    for (const auto& [labels, a] : runner->tracker->alerts()) {
      if (a.state == AlertState::Inactive) continue;
      rule.alerts.push_back(
          {labels, a.annotations, a.state, a.value, a.active_at, a.keep_firing_since});
    }
    std::sort(rule.alerts.begin(), rule.alerts.end(),
              [](const AlertView& a, const AlertView& b) { return a.labels < b.labels; });
  }
  return view;
}

size_t Group::active_alerts() const {
  base::MutexLock lock(mutex_);
  size_t active = 0;
  for (const auto& runner : runners_) active += runner->tracker ? runner->tracker->active() : 0;
  return active;
}

std::string_view rule_health_name(RuleHealth health) {
  return health == RuleHealth::Good ? "ok" : health == RuleHealth::Bad ? "err" : "unknown";
}

}  // namespace vagt::rules
