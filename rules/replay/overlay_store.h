// Stored history with the results of replayed rules laid over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rules/rule.h"
#include "tsdb/store.h"

namespace vagt::rules {

// Reads see history, except that from `from` on what the replayed rules would have written comes
// from `results` alone. Writes go to `results`. Both stores are borrowed.
class OverlayStore final : public tsdb::Store {
 public:
  OverlayStore(tsdb::Store& history, tsdb::Store& results, Timestamp from)
      : history_(history), results_(results), from_(from) {}
  // Before the first query.
  void replaces(const Rule& rule);

  std::unique_ptr<tsdb::Appender> appender() override { return results_.import_appender(); }
  std::unique_ptr<tsdb::Querier> querier(Timestamp mint, Timestamp maxt) override;
  std::vector<std::pair<std::string, tsdb::Metadata>> metadata(
      std::string_view metric) const override {
    return history_.metadata(metric);
  }
  tsdb::StoreStats stats() const override { return history_.stats(); }
  tsdb::CardinalityStats cardinality(size_t top) const override {
    return history_.cardinality(top);
  }

 private:
  class OverlayQuerier;
  class OverlayCursor;
  bool is_replaced(const Labels& labels) const;
  bool may_be_replaced(std::span<const Matcher> matchers) const;

  tsdb::Store& history_;
  tsdb::Store& results_;
  const Timestamp from_;
  std::vector<std::string> metrics_, alerts_;  // sorted
};

}  // namespace vagt::rules
