// The head: every active series, where appenders find it and queriers read it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/mutex.h"
#include "tsdb/head_index.h"
#include "tsdb/series.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

// Lock order: index mutex, then a shard's or the slab's. None is held while calling out of tsdb or
// doing I/O.
class Head {
 public:
  Head();
  ~Head();

  // Null when the ref is retired or was never given out. Any thread; the atomics of the series may
  // be read at once, the rest under shard().
  Series* resolve(SeriesRef ref) const;
  Series& at(Slot slot) const;
  static Slot slot_of(SeriesRef ref) { return static_cast<Slot>(static_cast<uint64_t>(ref)) - 1; }
  static uint32_t generation_of(SeriesRef ref) {
    return static_cast<uint32_t>(static_cast<uint64_t>(ref) >> 32);
  }
  static size_t shard_number(Slot slot) { return (slot >> 8) % kShards; }
  static constexpr size_t kShards = 16;
  base::Mutex& shard(Slot slot) const { return shards_[shard_number(slot)].mutex; }

  struct Found {
    Slot slot = HeadIndex::kNone;
    SeriesRef ref = SeriesRef::None;
    bool fresh = false;  // no commit has brought it a sample: hold() counted one more user
  };
  // With `hold`, a fresh series found is kept until settle().
  Found find(const Labels& labels, bool hold);
  // Held when fresh, whoever created it. `id` is used when the series is new.
  Found find_or_create(const Labels& labels, SeriesId id);
  // Recovery, where samples may be there before their labels: a place for the series, then its
  // name. Another thread may name series while this one reserves; nobody finds one without a name.
  Slot reserve(SeriesId id);                   // kNone: the head is full
  bool name(Slot slot, const Labels& labels);  // false: no room for its labels
  void give_up(Slot slot);                     // no labels: the samples are forgotten
  // A holder is done. Kept: the series has a sample now. Not kept, and nobody else holds it: gone.
  void settle(std::span<const Slot> slots, bool kept);
  void remove(std::span<const Slot> slots);

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  Slot slots() const { return next_slot_.load(std::memory_order_acquire); }  // all below were used
  struct Match {
    Labels labels;
    Slot slot;
    uint32_t generation;
    SeriesId id;
  };
  // In no particular order.
  std::vector<Match> select(std::span<const Matcher> matchers) const;
  // Calls f(slot, pairs, text-of-symbol) for matching series, under the index mutex.
  template <class F>
  void visit(std::span<const Matcher> matchers, F f) const {
    base::MutexLock lock(index_mutex_);
    for (const Slot slot : index_.select(matchers)) f(slot, index_.pairs_of(slot), index_);
  }
  // Calls f(index) under the index mutex.
  template <class F>
  void with_index(F f) const {
    base::MutexLock lock(index_mutex_);
    f(static_cast<const HeadIndex&>(index_));
  }
  Labels labels(Slot slot) const {
    base::MutexLock lock(index_mutex_);
    return index_.labels(slot);
  }
  // Gives up what the index has room for beyond its needs.
  void tidy() {
    base::MutexLock lock(index_mutex_);
    index_.tidy();
  }
  size_t memory_bytes() const;  // of series and index

 private:
  static constexpr size_t kBlock = 256;       // series
  static constexpr size_t kBlocks = 1 << 16;  // 16 M series
  struct Block {
    std::array<Series, kBlock> series;
  };
  struct alignas(64) Shard {
    base::Mutex mutex;
  };
  Found insert(const Labels& labels, SeriesId id) VAGT_REQUIRES(index_mutex_);
  bool index(Slot slot, const Labels& labels) VAGT_REQUIRES(index_mutex_);
  Slot take_slot() VAGT_EXCLUDES(slab_mutex_);
  void return_slot(Slot slot) VAGT_EXCLUDES(slab_mutex_);
  void free_slot(Slot slot) VAGT_REQUIRES(index_mutex_);
  SeriesRef ref_of(Slot slot) const;

  mutable std::array<Shard, kShards> shards_;
  const std::unique_ptr<std::atomic<Block*>[]> blocks_;
  std::atomic<Slot> next_slot_{0};
  std::atomic<size_t> size_{0};
  mutable base::Mutex index_mutex_;
  PairLists pairs_ VAGT_GUARDED_BY(index_mutex_);
  mutable HeadIndex index_ VAGT_GUARDED_BY(index_mutex_);
  std::unordered_map<Slot, uint32_t> holders_ VAGT_GUARDED_BY(index_mutex_);  // of fresh series
  uint32_t generation_ VAGT_GUARDED_BY(index_mutex_) = 0;
  base::Mutex slab_mutex_;
  std::vector<Slot> free_ VAGT_GUARDED_BY(slab_mutex_);
};

}  // namespace vagt::tsdb
