// Groups that read what they or each other wrote: the daemon's own code, slot by slot.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "rules/group.h"
#include "rules/replay/collector.h"

namespace vagt::rules {

class LockstepGroups final : private AlertSink {
 public:
  // Groups publish to sink() of the environment they are made with.
  AlertSink& sink() { return *this; }
  // One result for each rule of the group.
  void add(std::unique_ptr<Group> group, std::vector<ReplayedRule*> results);

  // All slots in [from, to], in order. Errors: Cancelled, LimitExceeded: more than `max_alerts`.
  Status run(Timestamp from, Timestamp to, std::stop_token stop, size_t max_alerts);
  size_t alerts() const;
  void finish(Timestamp to);

 private:
  struct Member {
    std::unique_ptr<Group> group;
    std::vector<ReplayedRule*> results;
    std::vector<AlertCollector> collectors;
    std::vector<std::string> urls;  // what tells the rules' alerts apart
  };
  void publish(std::span<const Alert> alerts) override;
  void evaluate(Member& member, Timestamp slot, const std::stop_token& stop);

  std::vector<Member> members_;
  Member* current_ = nullptr;  // whose evaluation is under way
};

}  // namespace vagt::rules
