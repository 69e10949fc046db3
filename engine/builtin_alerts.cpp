#include "engine/builtin_alerts.h"

#include "base/worker_pool.h"

namespace vagt::engine {
namespace {

constexpr Duration kLook = std::chrono::seconds(5);
constexpr Duration kAgain = std::chrono::minutes(1);
// As rules do: a receiver that hears nothing for four intervals takes an alert as resolved.
constexpr Duration kValid = 4 * kAgain;
// An end is told for so long, in case a receiver was away.
constexpr Duration kEndTold = std::chrono::minutes(15);

}  // namespace

BuiltinAlerts::BuiltinAlerts(std::vector<Condition> conditions, Clock& clock, AlertSink& sink,
                             base::Registry& registry)
    : clock_(clock), sink_(sink) {
  for (Condition& condition : conditions) {
    State state;
    state.gauge = &registry.gauge("vagt_builtin_alert",
                                  "1 while the alert that vagtd raises about itself fires.",
                                  Labels::of({{"alertname", condition.alertname}}));
    state.condition = std::move(condition);
    states_.push_back(std::move(state));
  }
}

void BuiltinAlerts::set_external_labels(Labels labels) {
  base::MutexLock lock(mutex_);
  external_labels_ = std::move(labels);
}

Alert BuiltinAlerts::alert(const State& state, Timestamp now) const {
  Alert alert;
  LabelsBuilder labels(external_labels_);
  labels.set("alertname", state.condition.alertname);
  labels.set("severity", state.condition.severity);
  alert.labels = labels.build();
  alert.annotations = {{"summary", state.condition.summary}, {"description", state.why}};
  alert.state = state.ended ? AlertState::Inactive : AlertState::Firing;
  alert.value = 1;
  alert.active_at = *state.since;
  alert.fired_at = *state.since;
  alert.resolved_at = state.ended;
  alert.valid_until = now + kValid;
  alert.generator_url = generator_url_;
  return alert;
}

void BuiltinAlerts::step(Timestamp now) {
  std::vector<Alert> due;
  {
    base::MutexLock lock(mutex_);
    for (State& state : states_) {
      const std::string why = state.condition.why();
      const bool firing = state.since && !state.ended;
      state.gauge->set(why.empty() ? 0 : 1);
      bool changed = false;
      if (!why.empty()) {
        changed = !firing;
        if (changed) {
          state.since = now;
          state.ended.reset();
        }
        state.why = why;
      } else if (firing) {
        state.ended = now;
        changed = true;
      }
      if (!state.since) continue;
      if (state.ended && now - *state.ended > kEndTold) {
        state.since.reset();
        state.ended.reset();
        continue;
      }
      // A clock that went back counts as a minute that passed.
      if (!changed && now >= state.published && now - state.published < kAgain) continue;
      state.published = now;
      due.push_back(alert(state, now));
    }
  }
  if (!due.empty()) sink_.publish(due);
}

void BuiltinAlerts::start() {
  thread_ = std::jthread([this](std::stop_token stop) {
    base::set_thread_name("builtin-alerts");
    do {
      step(clock_.now());
    } while (clock_.sleep_until(clock_.now() + kLook, stop));
  });
}

void BuiltinAlerts::stop() { thread_ = std::jthread(); }

}  // namespace vagt::engine
