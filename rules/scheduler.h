// When which group is due: slots, missed ones, jumps of the wall clock. Owned by one thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "rules/group.h"
#include "rules/metrics.h"

namespace vagt::rules {

// A group with its place in time. What is not atomic belongs to whoever owns the scheduler.
struct ScheduledGroup {
  std::shared_ptr<Group> group;
  std::shared_ptr<GroupTotals> totals;  // never null; the successor at a reload goes on with them
  Timestamp next_slot{};
  std::atomic<bool> running{false};         // set by the scheduler, cleared by the worker
  bool evaluating = false;                  // running, and no longer waiting for a worker
  bool withdrawn = false;                   // a reload takes it away: nothing new begins
  bool cut_short = false;                   // withdrawn while running
  Timestamp slot{};                         // last handed out
  std::stop_source stop{std::nostopstate};  // of the evaluation under way

  ScheduledGroup(std::shared_ptr<Group> g, std::shared_ptr<GroupTotals> counts, Timestamp next)
      : group(std::move(g)), totals(std::move(counts)), next_slot(next) {}
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
