#include "rules/replay/collector.h"

#include <algorithm>

namespace vagt::rules {

bool AlertCollector::hear(const Alert& alert) {
  const auto found = open_.find(alert.labels);
  if (found != open_.end()) {
    ReplayedAlert& known = alerts_[found->second.alert];
    if (alert.resolved_at) {
      known.resolved_at = *alert.resolved_at;
      open_.erase(found);
      return false;
    }
    if (alert.fired_at == known.fired_at) {
      found->second.valid_until = alert.valid_until;
      return false;
    }
    known.resolved_at = std::min(found->second.valid_until, alert.active_at);
    open_.erase(found);
  }
  if (alert.state != AlertState::Firing || !alert.fired_at) return false;
  open_[alert.labels] = {alerts_.size(), alert.valid_until};
  alerts_.push_back({alert.labels, alert.annotations, alert.value, alert.active_at, *alert.fired_at,
                     std::nullopt});
  return true;
}

void AlertCollector::end_all(Timestamp at) {
  for (const auto& [labels, open] : open_) alerts_[open.alert].resolved_at = at;
  open_.clear();
}

std::vector<ReplayedAlert> AlertCollector::finish(Timestamp to) {
  for (const auto& [labels, open] : open_) {
    if (open.valid_until <= to) alerts_[open.alert].resolved_at = open.valid_until;
  }
  open_.clear();
  return std::move(alerts_);
}

}  // namespace vagt::rules
