#include "tsdb/mark_cache.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace vagt::tsdb {

// Four sums side by side, since each waits for its own multiplication only.
uint64_t MarkCache::key_of(std::string_view chunk) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::array<uint64_t, 4> lanes = {chunk.size(), 1, 2, 3};
  const auto take = [](uint64_t lane, uint64_t word) {
    return std::rotl((lane ^ word) * kOdd, 29);
  };
  size_t at = 0;
  for (; at + 32 <= chunk.size(); at += 32) {
    std::array<uint64_t, 4> words;
    std::memcpy(words.data(), chunk.data() + at, 32);
    for (size_t i = 0; i < 4; ++i) lanes[i] = take(lanes[i], words[i]);
  }
  std::array<uint64_t, 4> rest{};
  std::memcpy(rest.data(), chunk.data() + at, chunk.size() - at);
  uint64_t key = 0;
  for (size_t i = 0; i < 4; ++i) key = take(key ^ take(lanes[i], rest[i]), kOdd + i);
  return key;
}

std::shared_ptr<const ChunkMarks> MarkCache::find(uint64_t key) {
  base::MutexLock lock(mutex_);
  if (const auto it = young_.find(key); it != young_.end()) return it->second;
  const auto it = old_.find(key);
  if (it == old_.end()) return nullptr;
  std::shared_ptr<const ChunkMarks> marks = std::move(it->second);
  old_.erase(it);
  insert(key, marks);
  return marks;
}

void MarkCache::put(uint64_t key, ChunkMarks marks) {
  marks.shrink_to_fit();
  auto shared = std::make_shared<const ChunkMarks>(std::move(marks));
  base::MutexLock lock(mutex_);
  insert(key, std::move(shared));
}

void MarkCache::insert(uint64_t key, std::shared_ptr<const ChunkMarks> marks) {
  const size_t bytes = marks->size() * sizeof(ChunkMark) + 96;
  if (young_bytes_ + bytes > generation_bytes_) {
    old_ = std::exchange(young_, {});
    young_bytes_ = 0;
  }
  young_bytes_ += bytes;
  young_[key] = std::move(marks);
}

}  // namespace vagt::tsdb
