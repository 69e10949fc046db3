// The time-series store on RocksDB: what it shows survives kill -9.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/kv_store.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "tsdb/exemplar_ring.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

class StoreCore;

struct Retention {
  Duration time = std::chrono::hours(24 * 15);  // 0: for ever
  uint64_t bytes = 0;                           // of the data on disk; 0: no limit
};

struct RocksStoreOptions {
  std::string path;
  Retention retention;
  Duration out_of_order_window{};               // counted from the newest stored sample; 0: none
  size_t max_series = 5'000'000;                // in memory; beyond it only new series are refused
  uint64_t max_series_bytes = 0;                // of their memory, likewise; 0: no limit
  Duration idle_after = std::chrono::hours(1);  // a series without samples so long leaves memory
  uint64_t journal_bytes = 64u << 20;   // journal size after which open chunks are written out
  uint64_t min_free_bytes = 16u << 20;  // with less room on the disk, writes are refused
  uint64_t ballast_bytes = 128u << 10;  // set aside, given up when the disk is full
  size_t memtable_bytes = 6u << 20;
  size_t cache_bytes = 6u << 20;
  size_t mark_cache_bytes = 16u << 20;  // where queries may begin inside finished days' chunks
  bool background = true;  // a thread that calls step() once a second; false: the caller does
  Clock* clock = nullptr;  // required; outlives the store
  base::Logger log;
  base::Registry* registry = nullptr;  // null: no metrics; outlives the store
};

// Any thread may call anything. Destroy appenders and queriers before the store.
class RocksStore final : public Store {
 public:
  // Creates the directory if need be. Unavailable: another process has it open. InvalidArgument:
  // written by a newer version. Corruption, Io: says which file.
  static Result<std::unique_ptr<RocksStore>> open(RocksStoreOptions options);
  ~RocksStore() override;

  std::unique_ptr<Appender> appender() override;
  std::unique_ptr<Appender> import_appender() override;
  std::unique_ptr<Querier> querier(Timestamp mint, Timestamp maxt) override;
  std::vector<std::pair<std::string, Metadata>> metadata(std::string_view metric) const override;
  StoreStats stats() const override;
  // stats().degraded alone; cheap, never waits for the disk.
  std::string degraded() const;
  std::string over_budget() const;  // stats().over_budget alone, likewise
  CardinalityStats cardinality(size_t top) const override;
  Exemplars* exemplars() override { return &exemplars_; }

  // Alert states, silences, the notification log.
  KvStore& state();

  // Configuration that reloads.
  void set_retention(const Retention& retention);
  void set_out_of_order_window(Duration window);

  // One turn of upkeep: fsync, chunks to disk, retention, recovery from a full disk.
  Status step(Timestamp now);
  // Everything in memory to disk, days rewritten compactly. Returns when done.
  Status flush();
  // A copy that opens as a store of its own. InvalidArgument: `dir` exists.
  Status snapshot(const std::string& dir);
  // Removes the samples of matching series in [mint, maxt], both inclusive.
  Status delete_series(std::span<const Matcher> matchers, Timestamp mint, Timestamp maxt);
  // Gives back the room of what was deleted.
  Status clean_tombstones();
  // Checksums of every file. Corruption: names the first bad one.
  Status verify();
  // Memory the head's series hold, and their number, for the byte budget.
  std::pair<size_t, size_t> head_memory() const;

 private:
  explicit RocksStore(std::unique_ptr<StoreCore> core);
  const std::unique_ptr<StoreCore> core_;
  ExemplarRing exemplars_{100'000};
};

}  // namespace vagt::tsdb
