// Alert states on disk: what a restart continues from. The layout is in rules/README.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kv_store.h"
#include "rules/alert_tracker.h"
#include "rules/rule.h"

namespace vagt::rules {

std::string encode_alert(const TrackedAlert& alert);
// Corruption: not such a record, or of a later version.
Result<TrackedAlert> decode_alert(std::string_view record);

// The records of one group. One thread at a time.
class GroupState {
 public:
  // Null: nothing is kept.
  GroupState(KvStore* kv, const std::string& file, const std::string& group);

  // When the group was last evaluated; nullopt: never, or nothing is kept.
  Result<std::optional<Timestamp>> last_evaluation() const;
  // Alerts by the key of their rule.
  Result<std::map<std::string, std::vector<TrackedAlert>>> load() const;

  // Collects the changes of one rule's alerts and marks them as persisted.
  void add_changes(const std::string& rule_key, AlertTracker& tracker);
  // Writes what was collected and the time; fsynced when an alert changed its state.
  Status flush(Timestamp evaluated_at);
  // Forgets the group.
  Status erase_all();

 private:
  std::string alert_key(const std::string& rule_key, const Labels& labels) const;
  KvStore* kv_;
  std::string id_;
  KvBatch batch_;
  bool must_sync_ = false;
};

// Names a rule within its group whatever its position: name, labels, and how many like it came
// before.
std::string rule_key(const Rule& rule, size_t occurrence);

}  // namespace vagt::rules
