// Stand-ins around the rules: a store in memory, a key-value map that survives "restarts", a sink
// that remembers.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/kv_store.h"
#include "rules/manager.h"
#include "tests/support/manual_clock.h"
#include "tsdb/memory_store.h"

namespace vagt::rules {

class MapKv final : public KvStore {
 public:
  Status write(const KvBatch& batch, Sync sync) override {
    if (fail) return Status::io("disk full");
    synced += sync == Sync::Yes ? 1 : 0;
    for (const KvBatch::Operation& op : batch.operations()) {
      if (op.value)
        map[op.key] = *op.value;
      else
        map.erase(op.key);
    }
    return {};
  }
  Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto found = map.find(std::string(key));
    return found == map.end() ? std::optional<std::string>()
                              : std::optional<std::string>(found->second);
  }
  Status scan(std::string_view prefix,
              const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    for (auto it = map.lower_bound(std::string(prefix));
         it != map.end() && it->first.starts_with(prefix); ++it) {
      if (!visit(it->first, it->second)) break;
    }
    return {};
  }
  std::map<std::string, std::string> map;
  int synced = 0;
  bool fail = false;
};

class Heard final : public AlertSink {
 public:
  void publish(std::span<const Alert> list) override {
    alerts.insert(alerts.end(), list.begin(), list.end());
  }
  std::vector<Alert> take() { return std::exchange(alerts, {}); }
  std::vector<Alert> alerts;
};

inline std::unique_ptr<tsdb::MemoryStore> make_memory_store() {
  tsdb::MemoryStoreOptions options;
  options.out_of_order_window = std::chrono::hours(24 * 365 * 100);
  return std::make_unique<tsdb::MemoryStore>(options);
}

inline void put(tsdb::Store& store, const Labels& labels, Timestamp t, double v) {
  const auto appender = store.appender();
  ASSERT_EQ(appender->append(*appender->series(labels), {t, v}), Code::Ok);
  ASSERT_TRUE(appender->commit().ok());
}

inline RuleFile rules_of(const std::string& text) {
  RuleFileResult result = parse_rule_file(text, "r.yml");
  for (const Status& error : result.errors) ADD_FAILURE() << error.message();
  return std::move(result.file);
}

}  // namespace vagt::rules
