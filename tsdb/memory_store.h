// A Store that lives in memory only: for tests, rule unit tests and replays.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tsdb/exemplar_ring.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

struct MemoryStoreOptions {
  Duration out_of_order_window{};  // counted from the newest stored sample; 0: none
  Duration retention{};            // older samples are refused; 0: for ever
  size_t max_series = SIZE_MAX;    // beyond it series() says LimitExceeded
  const Clock* clock = nullptr;    // bounds retention; null: only the newest sample does
};

// Behaves as RocksStore does, without files and without dropping old data. Any thread.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(MemoryStoreOptions options = {});
  ~MemoryStore() override;

  std::unique_ptr<Appender> appender() override;
  std::unique_ptr<Appender> import_appender() override;
  std::unique_ptr<Querier> querier(Timestamp mint, Timestamp maxt) override;
  std::vector<std::pair<std::string, Metadata>> metadata(std::string_view metric) const override;
  StoreStats stats() const override;
  CardinalityStats cardinality(size_t top) const override;
  Exemplars* exemplars() override { return &exemplars_; }

  // Removes the samples of matching series in [mint, maxt]. Returns how many went.
  size_t delete_series(std::span<const Matcher> matchers, Timestamp mint, Timestamp maxt);

 private:
  struct State;
  class MemoryAppender;
  class MemoryQuerier;
  class MemoryCursor;
  const std::shared_ptr<State> state_;
  ExemplarRing exemplars_{1000};
};

}  // namespace vagt::tsdb
