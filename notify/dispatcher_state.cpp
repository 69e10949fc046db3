// What the dispatcher tells others of its state: gauges, and the snapshot that the API reads.
#include "notify/dispatcher.h"

namespace vagt::notify {

std::shared_ptr<const SilenceStore> Dispatcher::silence_snapshot() {
  if (silence_copy_ == nullptr || silence_copy_->version() != silences_.version()) {
    silence_copy_ = std::make_shared<const SilenceStore>(silences_);
  }
  return silence_copy_;
}

// Kept until the next change only: it must not hold on to alerts that have been replaced.
std::shared_ptr<const Snapshot> Dispatcher::snapshot() {
  if (snapshot_ != nullptr && snapshot_->silences->version() == silences_.version()) {
    return snapshot_;
  }
  auto made = std::make_shared<Snapshot>();
  made->config = config_;
  made->alerts.reserve(alerts_.size());
  for (const auto& [fingerprint, slot] : alerts_) {
    if (slot.routes != nullptr) made->alerts.push_back({slot.alert, slot.routes});
  }
  made->groups.reserve(groups_.size());
  for (const auto& [id, group] : groups_) {
    Snapshot::HeldGroup& held = made->groups.emplace_back(
        Snapshot::HeldGroup{&group->route(), group->labels(), group->key(), {}});
    held.alerts.reserve(group->size());
    for (const auto& [fingerprint, alert] : group->alerts()) held.alerts.push_back(alert);
  }
  made->silences = silence_snapshot();
  made->inhibitor = inhibitor_.share();
  made->external_url = options_.external_url;
  snapshot_ = std::move(made);
  return snapshot_;
}

void Dispatcher::update_silence_gauges(Timestamp now) {
  double counts[3] = {0, 0, 0};
  for (const auto& [id, silence] : silences_.all())
    counts[static_cast<size_t>(silence.state(now))] += 1;
  metrics_.silences_expired.set(counts[static_cast<size_t>(SilenceState::Expired)]);
  metrics_.silences_active.set(counts[static_cast<size_t>(SilenceState::Active)]);
  metrics_.silences_pending.set(counts[static_cast<size_t>(SilenceState::Pending)]);
}

void Dispatcher::update_gauges(Timestamp now) {
  // Costs a look at every alert: seldom enough not to matter.
  constexpr Duration kEvery = std::chrono::seconds(15);
  next_gauges_ = now + kEvery;
  update_silence_gauges(now);
  metrics_.groups.set(static_cast<double>(groups_.size()));
  double active = 0, suppressed = 0;
  for (const auto& [fingerprint, slot] : alerts_) {
    if (slot.alert->resolved(now)) continue;
    (inhibitor_.inhibited_by(slot.alert->labels, now) ||
             silences_.is_silenced(slot.alert->labels, now)
         ? suppressed
         : active) += 1;
  }
  metrics_.alerts_active.set(active);
  metrics_.alerts_suppressed.set(suppressed);
  metrics_.alerts_unprocessed.set(0);
}

}  // namespace vagt::notify
