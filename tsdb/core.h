// What the parts of RocksStore share: commit.cpp writes, querier.cpp reads, seal.cpp moves chunks
// to disk, recovery.cpp opens, upkeep.cpp runs the rest. Internal to tsdb.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "tsdb/admission.h"
#include "tsdb/database.h"
#include "tsdb/guard.h"
#include "tsdb/head.h"
#include "tsdb/journal.h"
#include "tsdb/mark_cache.h"
#include "tsdb/readers.h"
#include "tsdb/rocks_store.h"

namespace vagt::tsdb {

struct StagedSample {
  Slot slot;
  uint32_t generation;
  int64_t t;
  double v;
};

struct FreshSeries {
  Slot slot;
  Labels labels;
};

// What one appender hands over.
struct CommitBatch {
  std::vector<StagedSample> samples;
  std::vector<FreshSeries> fresh;
  std::vector<std::pair<std::string, Metadata>> metadata;
};

class StateStore final : public KvStore {
 public:
  explicit StateStore(Database& db) : db_(db) {}
  Status write(const KvBatch& batch, Sync sync) override;
  Result<std::optional<std::string>> get(std::string_view key) const override;
  Status scan(std::string_view prefix,
              const std::function<bool(std::string_view, std::string_view)>& visit) const override;

 private:
  Database& db_;
};

struct StoreMetrics {
  explicit StoreMetrics(base::Registry& registry);
  base::Counter& samples;
  base::Counter& commits;
  base::Counter& commits_failed;
  base::Counter& series_created;
  base::Counter& series_removed;
  base::Counter& chunks_written;
  base::Counter& checkpoints;
  base::Counter& days_dropped;
  base::Counter& samples_lost;
  base::Gauge& series;
  base::Gauge& degraded;
  base::Gauge& disk_bytes;
  base::Gauge& journal_bytes;
  base::Gauge& series_limit;
  base::Counter& series_refused;
};

// Lock order: upkeep_mutex_, commit_mutex_, apply_mutex_, then Head's. Whoever changes the head or
// the files holds commit_mutex_; querying takes only apply_mutex_ (an instant, to open) and shards.
class StoreCore {
 public:
  StoreCore(RocksStoreOptions options, std::unique_ptr<Database> db);
  ~StoreCore();

  // recovery.cpp
  Status recover();

  // appender.cpp, commit.cpp
  std::unique_ptr<Appender> appender(bool any_age);
  TimeBounds bounds(bool any_age) const;
  Result<Head::Found> find_or_create(const Labels& labels);
  Status commit(CommitBatch& batch) VAGT_EXCLUDES(commit_mutex_);

  // querier.cpp
  std::unique_ptr<Querier> querier(Timestamp mint, Timestamp maxt);

  // seal.cpp
  Status seal_pending() VAGT_REQUIRES(commit_mutex_);
  Status seal_everything() VAGT_EXCLUDES(commit_mutex_);
  void release_sealed() VAGT_EXCLUDES(commit_mutex_);
  Status checkpoint() VAGT_EXCLUDES(commit_mutex_);
  Status compact_day(Day day) VAGT_REQUIRES(upkeep_mutex_);
  Status compact_days(bool all) VAGT_REQUIRES(upkeep_mutex_);

  // upkeep.cpp
  Status step(Timestamp now) VAGT_EXCLUDES(upkeep_mutex_);
  Status flush() VAGT_EXCLUDES(upkeep_mutex_);
  Status apply_retention() VAGT_REQUIRES(upkeep_mutex_);
  void retire_idle(Timestamp now) VAGT_REQUIRES(upkeep_mutex_);
  Status delete_series(std::span<const Matcher> matchers, int64_t mint, int64_t maxt)
      VAGT_EXCLUDES(upkeep_mutex_);
  Status clean_tombstones() VAGT_EXCLUDES(upkeep_mutex_);
  // `whatever_was`: in place of an earlier reason.
  void enter_degraded(const std::string& why, bool whatever_was = false);
  Status resume_if_room();
  Status present() const;  // Unavailable: the directory is not where it was
  Status room() const;     // Unavailable: less than min_free_bytes are free
  std::string degraded() const;
  void start_background();
  uint64_t disk_bytes() const;

  std::set<Day> days_between(int64_t mint, int64_t maxt) const;
  uint32_t now_seconds() const {
    return static_cast<uint32_t>(to_millis(options_.clock->now()) / 1000);
  }

  const RocksStoreOptions options_;
  const base::Logger log_;
  const std::unique_ptr<Database> db_;
  std::unique_ptr<base::Registry> own_registry_;  // when the caller has none
  StoreMetrics metrics_;
  Head head_;
  CardinalityGuard guard_;
  std::shared_ptr<void> guard_metrics_;  // their tokens
  Readers readers_;
  MarkCache marks_;
  StateStore state_;

  std::atomic<int64_t> retention_ms_, retention_bytes_, window_ms_;
  std::atomic<int64_t> newest_{kNoTime}, oldest_{INT64_MAX};
  std::atomic<int64_t> retired_max_{kNoTime};  // newest sample of series that left memory
  std::atomic<uint64_t> visible_{0};           // sequence of the last visible commit
  std::atomic<SeriesId> next_id_{1};
  std::atomic<size_t> batch_size_{64};    // samples of the last commit
  std::atomic<bool> log_dirty_{false};    // something was written since the last fsync
  std::atomic<bool> sync_failed_{false};  // what the log has may never reach the disk

  base::Mutex upkeep_mutex_;  // one upkeep at a time
  Timestamp last_slow_upkeep_ VAGT_GUARDED_BY(upkeep_mutex_){};
  std::atomic<Day> drop_before_{INT32_MIN};  // days before are hidden from new readers
  uint64_t drop_epoch_ VAGT_GUARDED_BY(upkeep_mutex_) = 0;
  base::Mutex commit_mutex_;
  uint64_t sequence_ VAGT_GUARDED_BY(commit_mutex_) = 0;
  uint64_t journal_size_ VAGT_GUARDED_BY(commit_mutex_) = 0;
  uint64_t journal_begin_ VAGT_GUARDED_BY(commit_mutex_) = 0;
  std::vector<Slot> to_seal_ VAGT_GUARDED_BY(commit_mutex_);
  std::vector<Slot> sealed_ VAGT_GUARDED_BY(commit_mutex_);  // chunks to let go
  base::Mutex apply_mutex_;

  mutable base::Mutex days_mutex_;
  std::set<Day> days_ VAGT_GUARDED_BY(days_mutex_);       // that have chunks on disk
  std::set<Day> compacted_ VAGT_GUARDED_BY(days_mutex_);  // of these, rewritten and untouched since
  mutable base::Mutex metadata_mutex_;
  std::map<std::string, Metadata, std::less<>> metadata_ VAGT_GUARDED_BY(metadata_mutex_);
  mutable base::Mutex degraded_mutex_;
  std::string degraded_ VAGT_GUARDED_BY(degraded_mutex_);
  std::atomic<bool> is_degraded_{false};
  std::pair<uint64_t, uint64_t> directory_;  // set before the first step()
  std::jthread thread_;

 private:
  friend struct RecoveryState;
  Status check_format();
  Status load_meta();
  Status load_days() VAGT_EXCLUDES(days_mutex_);
  Status write_commit(CommitBatch& batch) VAGT_REQUIRES(commit_mutex_);
  void apply(CommitBatch& batch) VAGT_REQUIRES(commit_mutex_);
  Result<SeriesId> disk_id(const Labels& labels);
  Status restore_newest(Slot slot);
  void touch_compacted_days(const std::set<Day>& touched, Batch& batch);
  Status seal_slots(std::span<const Slot> slots) VAGT_REQUIRES(commit_mutex_);
  Status erase_from_disk(const Labels& labels, SeriesId id, int64_t mint, int64_t maxt)
      VAGT_REQUIRES(commit_mutex_);
  void check_room();
  Status drop_days(Day first, Day last) VAGT_REQUIRES(commit_mutex_);
  void forget_series_of(Day day) VAGT_REQUIRES(commit_mutex_);
};

std::string meta_metadata_key(std::string_view metric);
inline constexpr std::string_view kFormatKey = "format";
inline constexpr uint32_t kFormatVersion = 3;
inline constexpr std::string_view kRetiredKey = "retired";
inline constexpr std::string_view kSequenceKey = "sequence";
inline std::string compacted_key(Day day) { return "c" + day_key(day); }
std::string ballast_path(const std::string& directory);

}  // namespace vagt::tsdb
