#include "tsdb/rocks_store.h"

#include <filesystem>

#include "tsdb/cardinality.h"
#include "tsdb/core.h"

namespace vagt::tsdb {

Status StateStore::write(const KvBatch& batch, Sync sync) {
  Batch out;
  for (const KvBatch::Operation& op : batch.operations()) {
    if (op.value) {
      out.put(Family::State, op.key, *op.value);
    } else {
      out.erase(Family::State, op.key);
    }
  }
  return db_.write(out, sync == Sync::Yes);
}

Result<std::optional<std::string>> StateStore::get(std::string_view key) const {
  return db_.get(Family::State, key);
}

Status StateStore::scan(
    std::string_view prefix,
    const std::function<bool(std::string_view, std::string_view)>& visit) const {
  auto scan = db_.scan(Family::State);
  for (scan->seek(prefix); scan->valid() && scan->key().substr(0, prefix.size()) == prefix;
       scan->next())
    if (!visit(scan->key(), scan->value())) break;
  return scan->status();
}

// Prometheus's names where the meaning is the same.
StoreMetrics::StoreMetrics(base::Registry& r)
    : samples(r.counter("prometheus_tsdb_head_samples_appended_total",
                        "Samples committed to the store.")),
      commits(r.counter("vagt_tsdb_commits_total", "Batches committed.")),
      commits_failed(r.counter("vagt_tsdb_commits_failed_total", "Batches refused.")),
      series_created(
          r.counter("prometheus_tsdb_head_series_created_total", "Series that entered memory.")),
      series_removed(
          r.counter("prometheus_tsdb_head_series_removed_total", "Series that left memory.")),
      chunks_written(r.counter("vagt_tsdb_chunks_written_total", "Chunks written to disk.")),
      checkpoints(r.counter("prometheus_tsdb_checkpoint_creations_total",
                            "Times the open chunks were written out and the journal trimmed.")),
      days_dropped(r.counter("vagt_tsdb_days_dropped_total", "Days removed by retention.")),
      samples_lost(r.counter("vagt_tsdb_samples_lost_total",
                             "Samples in the journal that could not be recovered at start.")),
      series(r.gauge("prometheus_tsdb_head_series", "Series in memory.")),
      degraded(r.gauge("vagt_tsdb_degraded", "1 while the store refuses writes.")),
      disk_bytes(r.gauge("prometheus_tsdb_storage_blocks_bytes", "Bytes in the data directory.")),
      journal_bytes(r.gauge("vagt_tsdb_journal_bytes", "Samples journalled since the checkpoint.")),
      series_limit(r.gauge("vagt_tsdb_series_limit", "Series beyond which new ones are refused.")),
      series_refused(r.counter("vagt_tsdb_series_refused_total",
                               "New series refused because the cardinality budget was spent.")) {}

StoreCore::StoreCore(RocksStoreOptions options, std::unique_ptr<Database> db)
    : options_(std::move(options)),
      log_(options_.log.with_component("tsdb")),
      db_(std::move(db)),
      own_registry_(options_.registry == nullptr ? std::make_unique<base::Registry>() : nullptr),
      metrics_(options_.registry != nullptr ? *options_.registry : *own_registry_),
      guard_({options_.max_series, options_.max_series_bytes}, log_),
      marks_(options_.mark_cache_bytes),
      state_(*db_),
      retention_ms_(options_.retention.time.count()),
      retention_bytes_(static_cast<int64_t>(options_.retention.bytes)),
      window_ms_(options_.out_of_order_window.count()) {
  metrics_.series_limit.set(static_cast<double>(options_.max_series));
  base::Registry& registry = options_.registry != nullptr ? *options_.registry : *own_registry_;
  guard_metrics_ = registry.callback(
      base::Registry::Kind::Gauge, "vagt_tsdb_exploding_series",
      "Series of the metric that ate the cardinality budget, while new series are refused.",
      [this](const auto& emit) {
        if (const auto found = guard_.explosion())
          emit(Labels::of({{"label", found->label}, {"metric", found->metric}}),
               static_cast<double>(found->series));
      });
}

// The journal has it all; the next start is quicker when its samples are in head records.
StoreCore::~StoreCore() {
  thread_ = std::jthread();
  guard_metrics_.reset();
  if (is_degraded_.load()) return;
  if (journal_size_ > options_.journal_bytes / 8)
    checkpoint().ignore("the journal still has it all");
  if (log_dirty_.load()) db_->sync_log().ignore("closing; the operating system writes it out");
}

RocksStore::RocksStore(std::unique_ptr<StoreCore> core) : core_(std::move(core)) {}
RocksStore::~RocksStore() = default;

Result<std::unique_ptr<RocksStore>> RocksStore::open(RocksStoreOptions options) {
  DatabaseOptions database;
  database.path = options.path;
  database.memtable_bytes = options.memtable_bytes;
  database.cache_bytes = options.cache_bytes;
  database.log = options.log.with_component("rocksdb");
  VAGT_TRY(auto db, Database::open(database));
  auto core = std::make_unique<StoreCore>(std::move(options), std::move(db));
  if (Status recovered = core->recover(); !recovered.ok())
    return std::move(recovered).at(core->options_.path);
  core->start_background();
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(core)));
  if (base::Registry* registry = store->core_->options_.registry; registry != nullptr)
    store->exemplars_.count_in(*registry);
  return store;
}

std::unique_ptr<Appender> RocksStore::appender() { return core_->appender(false); }
std::unique_ptr<Appender> RocksStore::import_appender() { return core_->appender(true); }
std::unique_ptr<Querier> RocksStore::querier(Timestamp mint, Timestamp maxt) {
  return core_->querier(mint, maxt);
}

std::vector<std::pair<std::string, Metadata>> RocksStore::metadata(std::string_view metric) const {
  base::MutexLock lock(core_->metadata_mutex_);
  std::vector<std::pair<std::string, Metadata>> all;
  if (metric.empty()) {
    all.assign(core_->metadata_.begin(), core_->metadata_.end());
  } else if (const auto it = core_->metadata_.find(metric); it != core_->metadata_.end()) {
    all.push_back(*it);
  }
  return all;
}

std::string RocksStore::degraded() const { return core_->degraded(); }
std::string RocksStore::over_budget() const { return core_->guard_.state(); }

StoreStats RocksStore::stats() const {
  StoreStats stats;
  for (Slot slot = 0; slot < core_->head_.slots(); ++slot) {
    base::MutexLock lock(core_->head_.shard(slot));
    const Series& series = core_->head_.at(slot);
    if (series.newest_t.load(std::memory_order_relaxed) == kNoTime) continue;
    ++stats.head_series;
    stats.head_chunks += series.chunk_count();
  }
  if (const int64_t newest = core_->newest_.load(); newest != kNoTime)
    stats.max_time = from_millis(newest);
  if (const int64_t oldest = core_->oldest_.load(); oldest != INT64_MAX)
    stats.min_time = from_millis(oldest);
  stats.disk_bytes = core_->disk_bytes();
  stats.degraded = core_->degraded();
  stats.over_budget = core_->guard_.state();
  stats.series_refused = core_->guard_.refused();
  return stats;
}

CardinalityStats RocksStore::cardinality(size_t top) const {
  CardinalityCounter counter;
  std::vector<Label> labels;
  core_->head_.visit({}, [&](Slot slot, PairRange pairs, const HeadIndex& index) {
    if (core_->head_.at(slot).newest_t.load(std::memory_order_relaxed) == kNoTime) return;
    labels.clear();
    for (const PairId id : pairs) {
      const SymbolPair pair = index.pair(id);
      labels.push_back({index.text(pair.name), index.text(pair.value)});
    }
    counter.add(labels);
  });
  CardinalityStats stats = counter.finish(top);
  stats.exploding = core_->guard_.explosion();
  return stats;
}

KvStore& RocksStore::state() { return core_->state_; }

void RocksStore::set_retention(const Retention& retention) {
  core_->retention_ms_.store(retention.time.count());
  core_->retention_bytes_.store(static_cast<int64_t>(retention.bytes));
}
void RocksStore::set_out_of_order_window(Duration window) {
  core_->window_ms_.store(window.count());
}

Status RocksStore::step(Timestamp now) { return core_->step(now); }
Status RocksStore::flush() { return core_->flush(); }
Status RocksStore::snapshot(const std::string& dir) {
  std::error_code error;
  if (std::filesystem::exists(dir, error)) return Status::invalid(dir + " exists already");
  if (const auto parent = std::filesystem::path(dir).parent_path(); !parent.empty())
    std::filesystem::create_directories(parent, error);
  if (Status copied = core_->db_->copy_to(dir); !copied.ok()) return std::move(copied).at(dir);
  core_->log_.info("snapshot written", {{"path", dir}});
  return {};
}
Status RocksStore::delete_series(std::span<const Matcher> matchers, Timestamp mint,
                                 Timestamp maxt) {
  return core_->delete_series(matchers, to_millis(mint), to_millis(maxt));
}
Status RocksStore::clean_tombstones() { return core_->clean_tombstones(); }
Status RocksStore::verify() { return core_->db_->verify(); }
std::pair<size_t, size_t> RocksStore::head_memory() const {
  return {core_->head_.memory_bytes(), core_->head_.size()};
}

}  // namespace vagt::tsdb
