#include "rules/scheduler.h"

#include <algorithm>

namespace vagt::rules {

std::optional<Scheduler::Due> Scheduler::take_due(Timestamp now) {
  ScheduledGroup* oldest = nullptr;
  size_t at = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    ScheduledGroup& group = *groups_[i];
    if (group.withdrawn || group.next_slot > now) continue;
    if (group.running.load(std::memory_order_acquire)) continue;
    if (oldest != nullptr && oldest->next_slot <= group.next_slot) continue;
    oldest = &group;
    at = i;
  }
  if (oldest == nullptr) return std::nullopt;
  const Timestamp slot = oldest->group->slot_at_or_before(now);
  const Duration interval = oldest->group->settings().interval;
  oldest->totals->count_missed((slot - oldest->next_slot) / interval);
  oldest->next_slot = slot + interval;
  oldest->slot = slot;
  return Due{groups_[at], slot};
}

std::optional<Timestamp> Scheduler::next_due() const {
  std::optional<Timestamp> next;
  for (const ScheduledGroupPtr& group : groups_) {
    if (group->withdrawn || group->running.load(std::memory_order_acquire)) continue;
    if (!next || group->next_slot < *next) next = group->next_slot;
  }
  return next;
}

void Scheduler::reanchor(Timestamp now) {
  for (const ScheduledGroupPtr& group : groups_) {
    group->next_slot = group->group->slot_at_or_before(now) + group->group->settings().interval;
  }
}

}  // namespace vagt::rules
