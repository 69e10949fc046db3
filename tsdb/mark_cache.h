// Where queries may begin inside long chunks, as found by the queries before them.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "tsdb/codec.h"

namespace vagt::tsdb {

// By the content of the chunk, so a rewritten chunk needs no word to anyone. Any thread.
class MarkCache {
 public:
  explicit MarkCache(size_t max_bytes) : generation_bytes_(max_bytes / 2) {}

  // A chunk's name in here.
  static uint64_t key_of(std::string_view chunk);
  // Null: nothing is known.
  std::shared_ptr<const ChunkMarks> find(uint64_t key);
  // Replaces what is known of the chunk.
  void put(uint64_t key, ChunkMarks marks);

 private:
  using Map = std::unordered_map<uint64_t, std::shared_ptr<const ChunkMarks>>;
  void insert(uint64_t key, std::shared_ptr<const ChunkMarks> marks) VAGT_REQUIRES(mutex_);

  const size_t generation_bytes_;
  base::Mutex mutex_;
  // What was not asked for since the last turn goes with the old map.
  Map young_ VAGT_GUARDED_BY(mutex_), old_ VAGT_GUARDED_BY(mutex_);
  size_t young_bytes_ VAGT_GUARDED_BY(mutex_) = 0;
};

}  // namespace vagt::tsdb
