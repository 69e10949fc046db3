#include "tsdb/head.h"

namespace vagt::tsdb {

Head::Head()
    : blocks_(new std::atomic<Block*>[kBlocks]()),
      index_([this](Slot slot) VAGT_NO_THREAD_ANALYSIS { return at(slot).pairs(pairs_); }) {}

Head::~Head() {
  for (size_t i = 0; i < kBlocks; ++i) {
    Block* block = blocks_[i].load(std::memory_order_relaxed);
    if (block == nullptr) break;
    delete block;
  }
}

Series& Head::at(Slot slot) const {
  return blocks_[slot / kBlock].load(std::memory_order_acquire)->series[slot % kBlock];
}

Series* Head::resolve(SeriesRef ref) const {
  if (ref == SeriesRef::None) return nullptr;
  const Slot slot = slot_of(ref);
  if (slot >= slots()) return nullptr;
  Series& series = at(slot);
  return series.generation.load(std::memory_order_acquire) == generation_of(ref) ? &series
                                                                                 : nullptr;
}

SeriesRef Head::ref_of(Slot slot) const {
  const uint64_t generation = at(slot).generation.load(std::memory_order_relaxed);
  return generation == 0 ? SeriesRef::None : SeriesRef{generation << 32 | (slot + 1)};
}

Slot Head::take_slot() {
  base::MutexLock lock(slab_mutex_);
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const Slot slot = next_slot_.load(std::memory_order_relaxed);
  if (slot / kBlock >= kBlocks) return HeadIndex::kNone;
  if (slot % kBlock == 0) blocks_[slot / kBlock].store(new Block, std::memory_order_release);
  next_slot_.store(slot + 1, std::memory_order_release);
  return slot;
}

void Head::return_slot(Slot slot) {
  base::MutexLock lock(slab_mutex_);
  free_.push_back(slot);
}

void Head::free_slot(Slot slot) {
  Series& series = at(slot);
  series.generation.store(0, std::memory_order_release);
  {
    base::MutexLock lock(shard(slot));
    series.clear_samples();
    series.newest_t.store(kNoTime, std::memory_order_relaxed);
    series.forget_disk_last_t();
    series.indexed_day = INT32_MIN;
    series.on_disk = series.dirty = false;
    pairs_.give_back(series.labels, series.label_count);
    series.label_count = 0;
  }
  holders_.erase(slot);
  return_slot(slot);
  size_.fetch_sub(1, std::memory_order_relaxed);
}

Head::Found Head::find(const Labels& labels, bool hold) {
  base::MutexLock lock(index_mutex_);
  const Slot slot = index_.find(labels);
  if (slot == HeadIndex::kNone) return {};
  Found found{slot, ref_of(slot), false};
  if (const auto it = holders_.find(slot); it != holders_.end()) {
    found.fresh = true;
    if (hold) ++it->second;
  }
  return found;
}

Head::Found Head::find_or_create(const Labels& labels, SeriesId id) {
  base::MutexLock lock(index_mutex_);
  Slot slot = index_.find(labels);
  if (slot == HeadIndex::kNone) {
    const Found found = insert(labels, id);
    if (found.ref == SeriesRef::None) return found;
    slot = found.slot;
    holders_[slot] = 0;
  }
  Found found{slot, ref_of(slot), false};
  if (const auto it = holders_.find(slot); it != holders_.end()) {
    found.fresh = true;
    ++it->second;
  }
  return found;
}

Head::Found Head::insert(const Labels& labels, SeriesId id) {
  const Slot slot = take_slot();
  if (slot == HeadIndex::kNone) return {};
  at(slot).id = id;
  if (index(slot, labels)) return {slot, ref_of(slot), true};
  return_slot(slot);
  return {};
}

bool Head::index(Slot slot, const Labels& labels) {
  Series& series = at(slot);
  const std::span<const PairId> pairs = index_.intern(labels);
  const auto place = pairs_.keep(pairs);
  if (!place) {
    index_.release(pairs);
    return false;
  }
  series.labels = *place;
  series.label_count = static_cast<uint16_t>(pairs.size());
  index_.add(slot, labels.hash(), pairs);
  size_.fetch_add(1, std::memory_order_relaxed);
  if (++generation_ == 0) ++generation_;
  series.generation.store(generation_, std::memory_order_release);
  return true;
}

Slot Head::reserve(SeriesId id) {
  const Slot slot = take_slot();
  if (slot != HeadIndex::kNone) at(slot).id = id;
  return slot;
}

bool Head::name(Slot slot, const Labels& labels) {
  base::MutexLock lock(index_mutex_);
  return index(slot, labels);
}

void Head::give_up(Slot slot) {
  base::MutexLock lock(index_mutex_);
  size_.fetch_add(1, std::memory_order_relaxed);  // it was never counted
  free_slot(slot);
}

void Head::settle(std::span<const Slot> slots, bool kept) {
  if (slots.empty()) return;
  base::MutexLock lock(index_mutex_);
  std::vector<Slot> unwanted;
  for (const Slot slot : slots) {
    const auto it = holders_.find(slot);
    if (it == holders_.end()) continue;  // another holder committed first
    if (kept) {
      holders_.erase(it);
    } else if (--it->second == 0) {
      unwanted.push_back(slot);
    }
  }
  index_.remove(unwanted);  // together: each list of the index is gone through once
  for (const Slot slot : unwanted) free_slot(slot);
}

void Head::remove(std::span<const Slot> slots) {
  base::MutexLock lock(index_mutex_);
  index_.remove(slots);
  for (const Slot slot : slots) free_slot(slot);
}

std::vector<Head::Match> Head::select(std::span<const Matcher> matchers) const {
  std::vector<Match> matches;
  base::MutexLock lock(index_mutex_);
  const std::vector<Slot> slots = index_.select(matchers);
  matches.reserve(slots.size());
  for (const Slot slot : slots)
    matches.push_back({index_.labels(slot), slot,
                       at(slot).generation.load(std::memory_order_relaxed), at(slot).id});
  return matches;
}

size_t Head::memory_bytes() const {
  size_t bytes = 0;
  for (Slot slot = 0; slot < slots(); ++slot) {
    base::MutexLock lock(shard(slot));
    bytes += sizeof(Series) + at(slot).memory_bytes();
  }
  base::MutexLock lock(index_mutex_);
  return bytes + pairs_.memory_bytes() + index_.memory_bytes();
}

}  // namespace vagt::tsdb
