// One aggregation group: which alerts it holds and when it is due. Pure; the dispatcher acts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "notify/alert_record.h"
#include "notify/route.h"

namespace vagt::notify {

// What survives a restart of a group's clock.
struct GroupTimer {
  Timestamp due{};
  bool flushed = false;  // at least once
  std::string receiver;  // who the flushes told: for another one the clock starts anew
};
std::string encode_group_timer(const GroupTimer& timer);
Result<GroupTimer> decode_group_timer(std::string_view text);

class Group {
 public:
  Group(const Route& route, Labels labels, Timestamp created);

  const Route& route() const { return *route_; }
  const Labels& labels() const { return labels_; }
  const std::string& id() const { return id_; }    // route id and labels: unique, on disk
  const std::string& key() const { return key_; }  // the notification log's and payloads' groupKey
  const GroupTimer& timer() const { return timer_; }
  void restore(const GroupTimer& timer) { timer_ = timer; }
  bool flushing() const { return flushing_; }
  bool empty() const { return alerts_.empty(); }
  size_t size() const { return alerts_.size(); }
  const std::map<uint64_t, AlertPtr>& alerts() const { return alerts_; }

  // Adds or replaces an alert. True: the alert's fingerprint is new here. A group that has not
  // flushed yet is due at once when the alert started more than group_wait ago.
  bool insert(const AlertPtr& alert, Timestamp now);

  // Begins a flush of what it holds now, in payload order, and sets the next tick.
  std::vector<AlertPtr> begin_flush(Timestamp now);
  // Ends it. When `ok`, the flushed alerts that had resolved at its start and were not updated
  // since leave; their fingerprints.
  std::vector<uint64_t> end_flush(bool ok);
  // How long one flush may take.
  Duration flush_timeout() const;

 private:
  const Route* route_;
  Labels labels_;
  std::string id_, key_;
  GroupTimer timer_;
  std::map<uint64_t, AlertPtr> alerts_;
  bool flushing_ = false;
  std::vector<AlertPtr> flushed_resolved_;
};

}  // namespace vagt::notify
