// RocksDB behind our own words: column families, batches, scans, Status. Internal to tsdb; the one
// place that includes RocksDB is database*.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/status.h"

namespace vagt::tsdb {

enum class Family : uint8_t { Meta, Journal, Head, Series, Chunks, Postings, State };
inline constexpr size_t kFamilies = 7;

class Batch {  // applied together, in order
 public:
  Batch();
  ~Batch();
  void put(Family family, std::string_view key, std::string_view value);
  // Appends `value` to what is there (series and postings only).
  void append(Family family, std::string_view key, std::string_view value);
  void erase(Family family, std::string_view key);
  void erase_range(Family family, std::string_view begin, std::string_view end);  // [begin, end)
  size_t bytes() const;
  bool empty() const;
  void clear();

 private:
  friend class Database;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Scan {  // of one family, in key order; a consistent view from its creation
 public:
  ~Scan();
  void seek(std::string_view key);
  void seek_to_last();
  bool valid() const;
  void next();
  std::string_view key() const;    // until the next move
  std::string_view value() const;  // likewise
  Status status() const;

 private:
  friend class Database;
  struct Impl;
  explicit Scan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct DatabaseOptions {
  std::string path;
  size_t memtable_bytes = 6u << 20;  // of all families together
  size_t cache_bytes = 6u << 20;     // blocks, shared
  base::Logger log;
};

// Any thread. A write error other than a full disk stays until resume() succeeds.
class Database {
 public:
  // Unavailable: another process has it open. Corruption: says which file.
  static Result<std::unique_ptr<Database>> open(const DatabaseOptions& options);
  ~Database();

  Status write(const Batch& batch, bool sync);
  Result<std::optional<std::string>> get(Family family, std::string_view key) const;
  // get(), but what it reads does not push others out of the cache: for keys asked for once.
  Result<std::optional<std::string>> peek(Family family, std::string_view key) const;
  std::unique_ptr<Scan> scan(Family family) const;
  // scan() over much of a family: reads ahead, and leaves the cache to others.
  std::unique_ptr<Scan> sweep(Family family) const;

  Status sync_log();  // fsync of the write-ahead log
  Status flush();     // memtables to files
  Status compact(Family family);
  // Removes a whole key range at once: files wholly inside are unlinked, the rest is marked.
  Status drop_range(Family family, std::string_view begin, std::string_view end);
  Status resume();
  uint64_t memtable_bytes() const;  // not yet written out, all families
  // A copy that opens as a store of its own (hard links where possible). `path` must not exist.
  Status copy_to(const std::string& path) const;
  uint64_t file_bytes(Family family) const;  // live files of a family
  uint64_t range_bytes(Family family, std::string_view begin, std::string_view end) const;
  Status verify() const;  // checksums of every file

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::tsdb
