// How RocksDB is set; docs/adr/0006 has the figures.
#include "tsdb/database_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>

#include <cstdarg>

namespace vagt::tsdb {
namespace {

// The lists of ids in series and postings grow by appending; each piece reads alone.
class AppendOperator final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    if (existing != nullptr) result->assign(existing->data(), existing->size());
    result->append(value.data(), value.size());
    return true;
  }
  const char* Name() const override { return "vagt.append"; }
};

// RocksDB's warnings (dropped log records, failed flushes) belong in our log.
class ForwardingLogger final : public rocksdb::Logger {
 public:
  explicit ForwardingLogger(base::Logger log)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(std::move(log)) {}
  using rocksdb::Logger::Logv;
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level == rocksdb::InfoLogLevel::HEADER_LEVEL)
      return;
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    // Said at each snapshot, of the nesting that is meant there.
    if (std::string_view(text).find("File Deletions ") != std::string_view::npos) return;
    log_.warn("storage engine", {{"message", std::string(text)}});
  }
  void Logv(const char*, va_list) override {}  // info

 private:
  base::Logger log_;
};

// When to go on after a full disk is for the store to say: RocksDB's own recovery polls every five
// seconds and refuses ours meanwhile.
class NoSelfRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
  // A failed write or fsync is final to RocksDB, until the process starts anew. But all that the
  // log has is in memory too: resume() writes that to files and begins another log.
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->IsIOError() && error->severity() == rocksdb::Status::Severity::kFatalError)
      *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
  }
};

constexpr int64_t kBackgroundBytes = 64 << 20;  // a second, of flushes and compactions

// Lists of ids are alike from value to value: ZSTD finds that in large blocks. New series are
// looked up one by one in theirs.
constexpr size_t block_size(Family family) {
  switch (family) {
    case Family::Postings:
      return 64u << 10;
    case Family::Chunks:
      return 32u << 10;
    case Family::Series:
      return 16u << 10;
    default:
      return 8u << 10;
  }
}

}  // namespace

rocksdb::ColumnFamilyOptions family_options(Family family,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // New series are looked up one by one, in what is small enough to stay: elsewhere the cache's
  // bound holds for index blocks too.
  table.cache_index_and_filter_blocks = family != Family::Series;
  table.format_version = 5;
  table.block_size = block_size(family);
  if (family == Family::Series) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 3u << 20;
  options.max_write_buffer_number = 3;
  options.arena_block_size = 64u << 10;
  options.target_file_size_base = 16u << 20;
  options.max_bytes_for_level_base = 64u << 20;
  options.level_compaction_dynamic_level_bytes = true;
  // The journal lives for minutes: compressing it costs more than it saves.
  options.compression = family == Family::Journal ? rocksdb::kNoCompression : rocksdb::kZSTD;
  if (family != Family::Journal) options.bottommost_compression = rocksdb::kZSTD;
  if (family == Family::Series || family == Family::Postings)
    options.merge_operator = std::make_shared<AppendOperator>();
  return options;
}

rocksdb::DBOptions database_options(const DatabaseOptions& options) {
  rocksdb::DBOptions db;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  db.db_write_buffer_size = options.memtable_bytes;
  // A quiet family would otherwise keep old logs for ever, and a start would read them: with this
  // it is written out, and what a start reads is mostly the journal's own files.
  db.max_total_wal_size = 16u << 20;
  // One damaged record costs that record, not all after it; the log says what was dropped.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  db.avoid_flush_during_recovery = true;
  db.avoid_flush_during_shutdown = true;
  db.max_background_jobs = 2;
  db.max_open_files = 256;
  db.bytes_per_sync = 1u << 20;
  // Compactions leave the disk to the log's fsyncs.
  db.rate_limiter.reset(rocksdb::NewGenericRateLimiter(kBackgroundBytes));
  db.max_bgerror_resume_count = 0;
  db.listeners.push_back(std::make_shared<NoSelfRecovery>());
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.info_log = std::make_shared<ForwardingLogger>(options.log);
  db.recycle_log_file_num = 0;
  return db;
}

}  // namespace vagt::tsdb
