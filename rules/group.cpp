#include "rules/group.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "rules/rule_output.h"
#include "rules/runner.h"

namespace vagt::rules {
namespace {

bool same_rules(const std::vector<Rule>& a, const std::vector<Rule>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Rule& x, const Rule& y) {
    if (x.index() != y.index() || rule_name(x) != rule_name(y) || rule_labels(x) != rule_labels(y))
      return false;
    if (query::print_expr(rule_expr(x)) != query::print_expr(rule_expr(y))) return false;
    const auto* p = std::get_if<AlertRule>(&x);
    const auto* q = std::get_if<AlertRule>(&y);
    return p == nullptr ||
           (p->hold_for == q->hold_for && p->keep_firing_for == q->keep_firing_for &&
            p->annotations == q->annotations);
  });
}

RuleQueries::Options query_options(const GroupEnvironment& environment,
                                   const GroupSettings& settings) {
  RuleQueries::Options options{environment.store, environment.eval, environment.parse,
                               settings.query_offset};
  options.eval.default_subquery_step = settings.subquery_step;
  return options;
}

}  // namespace

Group::Group(std::shared_ptr<const GroupEnvironment> environment, RuleGroup rules,
             GroupSettings settings)
    : env_(std::move(environment)),
      definition_(std::move(rules)),
      settings_(std::move(settings)),
      phase_hash_(
          Labels::of({{"file", definition_.file}, {"name", definition_.name}}).fingerprint()),
      queries_(query_options(*env_, settings_)),
      templates_(
          {[this](const std::string& text, Timestamp at) { return queries_.at(text, at, stop_); },
           env_->external_url, env_->max_template_bytes}),
      state_(env_->kv, definition_.file, definition_.name) {
  std::map<std::string, size_t> occurrences;
  for (const Rule& rule : definition_.rules) {
    auto runner = std::make_unique<Runner>();
    runner->rule = &rule;
    runner->key = rule_key(rule, occurrences[rule_key(rule, 0)]++);
    runner->query = query::print_expr(rule_expr(rule));
    runner->plan = std::visit([](const auto& r) { return query::make_plan(r.expr); }, rule);
    if (const AlertRule* alert = runner->alert()) {
      runner->tracker = std::make_unique<AlertTracker>(
          AlertTracker::Options{alert->hold_for, alert->keep_firing_for, definition_.limit});
    }
    runners_.push_back(std::move(runner));
  }
}

Group::~Group() = default;

bool Group::same_as(const RuleGroup& rules, const GroupSettings& settings) const {
  return settings_ == settings && definition_.limit == rules.limit &&
         same_rules(definition_.rules, rules.rules);
}

Timestamp Group::slot_at_or_before(Timestamp now) const {
  const int64_t interval = settings_.interval.count();
  const auto phase = static_cast<int64_t>(phase_hash_ % static_cast<uint64_t>(interval));
  const int64_t since = to_millis(now) - phase;
  const int64_t rest = ((since % interval) + interval) % interval;
  return now - Duration(rest);
}

GroupCounts Group::evaluate(Timestamp slot, std::stop_token stop) {
  GroupCounts counts;
  stop_ = stop;
  const auto begin =
      env_->clock != nullptr ? env_->clock->steady_now() : std::chrono::steady_clock::time_point();
  for (const auto& runner : runners_) {
    if (stop.stop_requested()) return counts;
    const auto start = env_->clock != nullptr ? env_->clock->steady_now() : begin;
    Status status = run_rule(*runner, slot, stop, counts);
    if (!status.ok() && stop.stop_requested()) return counts;  // cut short, nothing is wrong
    ++counts.rules;
    base::MutexLock lock(mutex_);
    const bool was_good = runner->health != RuleHealth::Bad;
    runner->health = status.ok() ? RuleHealth::Good : RuleHealth::Bad;
    if (!status.ok()) {
      ++counts.failures;
      if (was_good || runner->last_error != status.message()) {
        env_->log.warn("Evaluating rule failed", {{"file", definition_.file},
                                                  {"group", definition_.name},
                                                  {"name", rule_name(*runner->rule)},
                                                  {"err", status.message()}});
      }
    }
    runner->last_error = status.message();
    runner->last_evaluation = slot;
    if (env_->clock != nullptr) {
      runner->evaluation_seconds =
          std::chrono::duration<double>(env_->clock->steady_now() - start).count();
    }
  }
  ++evaluations_;
  if (restore_from_series_ && evaluations_ >= 2) restore_from_series(slot);
  publish(slot);
  base::MutexLock lock(mutex_);
  last_evaluation_ = slot;
  if (env_->clock != nullptr) {
    evaluation_seconds_ = std::chrono::duration<double>(env_->clock->steady_now() - begin).count();
  }
  return counts;
}

Status Group::run_rule(Runner& runner, Timestamp slot, std::stop_token stop, GroupCounts& counts) {
  VAGT_TRY(const query::Vector result, queries_.at(*runner.plan, slot, stop));
  ResultWriter writer(*env_->store, slot - settings_.query_offset);
  runner.book.begin_round();
  Status status = runner.tracker ? run_alerts(runner, result, slot, writer)
                                 : run_record(runner, result, writer);
  // A rule over its limit has nothing to show: its series end. After any other failure they stay as
  // they were.
  if (!status.ok() && status.code() != Code::LimitExceeded) return status;
  for (const auto& [labels, ref] : runner.book.sweep()) writer.end(labels, ref);
  for (const auto& [labels, ref] : std::exchange(orphans_, {})) writer.end(labels, ref);
  const Status committed = writer.commit();
  counts.samples += writer.samples();
  if (committed.ok() && writer.dropped() > 0) {
    env_->log.warn("The store refused results of a rule", {{"group", definition_.name},
                                                           {"name", rule_name(*runner.rule)},
                                                           {"num_dropped", writer.dropped()}});
  }
  if (status.ok() && !committed.ok()) return Status(committed).at("writing results");
  return status;
}

Status Group::run_record(Runner& runner, const query::Vector& result, ResultWriter& writer) {
  const RecordRule& rule = *runner.record();
  if (definition_.limit > 0 && result.size() > definition_.limit) {
    return {Code::LimitExceeded,
            fmt::format("exceeded limit of {} with {} series", definition_.limit, result.size())};
  }
  std::vector<std::pair<Labels, double>> series;
  std::unordered_map<Labels, bool, LabelsHash> seen;
  series.reserve(result.size());
  for (const query::VectorSample& sample : result) {
    Labels labels = record_labels(rule, sample.labels);
    if (!seen.emplace(labels, true).second) {
      return Status::invalid(
          "vector contains metrics with the same labelset after applying rule labels");
    }
    series.emplace_back(std::move(labels), sample.v);
  }
  for (const auto& [labels, value] : series) writer.write(*runner.book.touch(labels), value);
  return {};
}

Status Group::run_alerts(Runner& runner, const query::Vector& result, Timestamp slot,
                         ResultWriter& writer) {
  const AlertRule& rule = *runner.alert();
  std::vector<AlertCandidate> candidates;
  candidates.reserve(result.size());
  std::shared_ptr<const Annotations> constant;  // shared by all alerts of a rule without templates
  const bool templated = has_templated_annotations(rule);
  if (!templated) constant = std::make_shared<const Annotations>(rule.annotations);
  templates_.begin(slot, settings_.external_labels);
  Status bad_template;
  for (const query::VectorSample& sample : result) {
    Labels labels = alert_labels(rule, sample, templates_, &bad_template);
    std::shared_ptr<const Annotations> annotations = constant;
    if (templated) {
      annotations = std::make_shared<const Annotations>(
          alert_annotations(rule, sample, templates_, &bad_template));
    }
    candidates.push_back({std::move(labels), std::move(annotations), sample.v});
  }
  if (stop_.stop_requested()) return {Code::Cancelled, "stopped"};  // texts may be cut short too
  if (!bad_template.ok()) {
    env_->log.warn("Expanding alert template failed",
                   {{"alert", rule.name}, {"err", bad_template.message()}});
  }
  {
    base::MutexLock lock(mutex_);
    VAGT_CHECK_OK(runner.tracker->update(std::move(candidates), slot));
  }
  if (runner.restored) write_alert_series(runner, writer);
  return {};
}

void Group::write_alert_series(Runner& runner, ResultWriter& writer) {
  for (auto& [labels, alert] : runner.tracker->alerts()) {
    if (alert.state == AlertState::Inactive) {
      alert.series[0] = alert.series[1] = nullptr;
      continue;
    }
    const std::string_view state = alert_state_name(alert.state);
    auto*& now = reinterpret_cast<SeriesBook::Entry*&>(alert.series[0]);
    auto*& since = reinterpret_cast<SeriesBook::Entry*&>(alert.series[1]);
    if (now == nullptr || now->labels->get("alertstate") != state) {
      LabelsBuilder builder(labels);
      builder.set(kMetricName, "ALERTS").set("alertstate", state);
      now = runner.book.touch(builder.build());
    }
    if (since == nullptr) {
      LabelsBuilder builder(labels);
      builder.set(kMetricName, "ALERTS_FOR_STATE");
      since = runner.book.touch(builder.build());
    }
    writer.write(*runner.book.touch(now), 1);
    const int64_t active_ms = to_millis(alert.active_at);
    writer.write(*runner.book.touch(since), static_cast<double>(active_ms / 1000));
  }
}

void Group::publish(Timestamp slot) {
  std::vector<Alert> due;
  for (const auto& runner : runners_) {
    if (!runner->tracker) continue;
    std::vector<Alert> alerts;
    {
      base::MutexLock lock(mutex_);
      alerts = runner->tracker->take_due(slot, env_->resend_delay, settings_.interval);
    }
    state_.add_changes(runner->key, *runner->tracker);
    if (alerts.empty()) continue;
    const std::string url = generator_url(env_->external_url, runner->query);
    for (Alert& alert : alerts) {
      alert.generator_url = url;
      alert.labels = with_external_labels(alert.labels, settings_.external_labels);
      due.push_back(std::move(alert));
    }
  }
  // The state goes to disk before anybody hears of it: a restart must not forget what was said.
  const Status written = state_.flush(slot);
  if (!written.ok()) {
    env_->log.error("Alert states could not be written",
                    {{"group", definition_.name}, {"err", written.message()}});
  }
  if (env_->sink != nullptr && !due.empty()) env_->sink->publish(due);
}

Status Group::end_series(Timestamp at) {
  ResultWriter writer(*env_->store, at);
  for (const auto& runner : runners_) {
    runner->book.begin_round();
    for (const auto& [labels, ref] : runner->book.sweep()) writer.end(labels, ref);
  }
  for (const auto& [labels, ref] : std::exchange(orphans_, {})) writer.end(labels, ref);
  return writer.commit();
}

void Group::forget() {
  const Status status = state_.erase_all();
  if (!status.ok())
    env_->log.warn("Old alert states could not be removed", {{"err", status.message()}});
}

}  // namespace vagt::rules
