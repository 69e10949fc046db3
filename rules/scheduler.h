// When which group is due: slots, missed ones, jumps of the wall clock. Owned by one thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "rules/group.h"
#include "rules/metrics.h"

namespace vagt::rules {

// A group with its place in time.
struct ScheduledGroup {
  std::shared_ptr<Group> group;
  GroupMetrics metrics;
  Timestamp next_slot{};
  std::atomic<bool> running{false};  // set by the scheduler, cleared by the worker

  ScheduledGroup(std::shared_ptr<Group> g, GroupMetrics m, Timestamp next)
      : group(std::move(g)), metrics(m), next_slot(next) {}
};
using ScheduledGroupPtr = std::shared_ptr<ScheduledGroup>;

class Scheduler {
 public:
  // The groups to run from now on.
  void set_groups(std::vector<ScheduledGroupPtr> groups) { groups_ = std::move(groups); }
  const std::vector<ScheduledGroupPtr>& groups() const { return groups_; }

  struct Due {
    ScheduledGroupPtr group;
    Timestamp slot;
  };
  // The group whose slot is the oldest due one; its newest due slot is the one to evaluate, those
  // before it count as missed. A group that still runs waits. nullopt: nothing is due.
  std::optional<Due> take_due(Timestamp now);
  std::optional<Timestamp> next_due() const;
  // The wall clock jumped: every group goes on at its next slot after `now`, and nothing counts as
  // missed.
  void reanchor(Timestamp now);

 private:
  std::vector<ScheduledGroupPtr> groups_;
};

}  // namespace vagt::rules
