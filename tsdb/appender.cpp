// The write path's first half: samples are checked and staged. commit.cpp has the second.
#include <algorithm>
#include <bit>

#include "tsdb/core.h"
#include "tsdb/disk_lookup.h"

namespace vagt::tsdb {
namespace {

// Slot → the newest staged sample of it; cleared by moving on to the next round.
class StagedIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t find(Slot slot) const {
    if (cells_.empty()) return kNone;
    for (size_t i = slot * kMix & mask();; i = (i + 1) & mask()) {
      if (cells_[i].round != round_) return kNone;
      if (cells_[i].slot == slot) return cells_[i].index;
    }
  }
  void set(Slot slot, uint32_t index) {
    if ((used_ + 1) * 2 > cells_.size()) grow();
    if (place(slot, index)) ++used_;
  }
  void clear() {
    ++round_;
    used_ = 0;
  }
  void reserve(size_t n) {
    if (cells_.empty()) cells_.resize(std::bit_ceil(std::max<size_t>(64, n * 2 + 2)));
  }

 private:
  static constexpr size_t kMix = 0x9E3779B1u;
  struct Cell {
    uint32_t round = 0;
    Slot slot = 0;
    uint32_t index = 0;
  };
  size_t mask() const { return cells_.size() - 1; }
  bool place(Slot slot, uint32_t index) {
    for (size_t i = slot * kMix & mask();; i = (i + 1) & mask()) {
      const bool empty = cells_[i].round != round_;
      if (!empty && cells_[i].slot != slot) continue;
      cells_[i] = {round_, slot, index};
      return empty;
    }
  }
  void grow() {
    std::vector<Cell> old = std::move(cells_);
    cells_.assign(std::max<size_t>(64, old.size() * 2), Cell());
    for (const Cell& cell : old)
      if (cell.round == round_) place(cell.slot, cell.index);
  }
  std::vector<Cell> cells_;
  uint32_t round_ = 1;
  size_t used_ = 0;
};

class RocksAppender final : public Appender {
 public:
  RocksAppender(StoreCore& core, bool any_age)
      : core_(core),
        any_age_(any_age),
        bounds_(core.bounds(any_age)),
        now_(core.now_seconds()),
        disk_(core) {}
  ~RocksAppender() override { forget(); }

  Result<SeriesRef> series(const Labels& labels) override {
    if (labels.empty()) return Status::invalid("a series needs at least one label");
    Head::Found found = core_.head_.find(labels, false);
    if (found.ref != SeriesRef::None && !found.fresh) return found.ref;
    if (found.ref != SeriesRef::None && fresh_.find(found.slot) != StagedIndex::kNone)
      return found.ref;
    VAGT_TRY(found, core_.find_or_create(labels));
    if (found.fresh) {
      fresh_.set(found.slot, static_cast<uint32_t>(batch_.fresh.size()));
      batch_.fresh.push_back({found.slot, labels});
    }
    return found.ref;
  }

  Code append(SeriesRef ref, Sample sample) override {
    Series* series = core_.head_.resolve(ref);
    if (series == nullptr) return Code::NotFound;
    if (batch_.samples.empty()) expect(core_.batch_size_.load(std::memory_order_relaxed));
    const Slot slot = Head::slot_of(ref);
    const int64_t t = to_millis(sample.t);
    const uint64_t bits = std::bit_cast<uint64_t>(sample.v);
    int64_t newest = series->newest_t.load(std::memory_order_acquire);
    const uint32_t staged = slot == last_slot_ ? last_index_ : index_.find(slot);
    const bool newer_staged = staged != StagedIndex::kNone && batch_.samples[staged].t > newest;
    if (newer_staged) newest = batch_.samples[staged].t;
    std::optional<Timestamp> series_newest;
    if (newest != kNoTime) series_newest = from_millis(newest);
    const Admission admission = admit(bounds_, series_newest, sample.t);
    if (admission.code != Code::Ok) return admission.code;
    if (admission.same_time) {
      const Stored there =
          newer_staged ? Stored{Code::Ok, batch_.samples[staged].v} : stored_at(*series, ref, t);
      if (there.code != Code::Ok) return there.code;
      return there.value && bits == std::bit_cast<uint64_t>(*there.value) ? Code::Ok
                                                                          : Code::Duplicate;
    }
    if (admission.late) {
      if (const Code code = check_late(*series, ref, t, bits); code != Code::Internal) return code;
      late_.emplace(std::pair(slot, t), bits);
    }
    batch_.samples.push_back({slot, Head::generation_of(ref), t, sample.v});
    series->touched.store(now_, std::memory_order_relaxed);
    if (admission.late) return Code::Ok;
    last_slot_ = slot;
    last_index_ = static_cast<uint32_t>(batch_.samples.size() - 1);
    index_.set(slot, last_index_);
    return Code::Ok;
  }

  void metadata(std::string_view metric, const Metadata& metadata) override {
    batch_.metadata.emplace_back(metric, metadata);
  }

  Status commit() override {
    const Status status = core_.commit(batch_);
    if (!status.ok()) return status;
    forget();
    bounds_ = core_.bounds(any_age_);
    now_ = core_.now_seconds();
    return {};
  }

 private:
  // Pages are about as long as the last one: growing costs more than room does.
  void expect(size_t samples) {
    batch_.samples.reserve(samples);
    index_.reserve(samples);
  }

  struct Stored {
    Code code = Code::Ok;  // NotFound: the series was retired meanwhile, and its place may serve
                           // another
    std::optional<double> value;
  };
  // What memory or disk has at `t`.
  Stored stored_at(const Series& series, SeriesRef ref, int64_t t) {
    SeriesId id = 0;
    {
      base::MutexLock lock(core_.head_.shard(Head::slot_of(ref)));
      if (series.generation.load(std::memory_order_acquire) != Head::generation_of(ref))
        return {Code::NotFound, {}};
      if (series.newest_t.load(std::memory_order_relaxed) == t)
        return {Code::Ok, series.newest_value()};
      if (double value; series.find(t, value)) return {Code::Ok, value};
      if (t > series.disk_last_t()) return {};
      id = series.id;
    }
    return {Code::Ok, disk_.find(id, t)};
  }

  // Internal: nothing of that time is staged, in memory or on disk.
  Code check_late(const Series& series, SeriesRef ref, int64_t t, uint64_t bits) {
    const Slot slot = Head::slot_of(ref);
    if (const auto it = late_.find({slot, t}); it != late_.end())
      return it->second == bits ? Code::Ok : Code::Duplicate;
    for (const StagedSample& staged : batch_.samples)  // in order in this very batch
      if (staged.slot == slot && staged.t == t)
        return std::bit_cast<uint64_t>(staged.v) == bits ? Code::Ok : Code::Duplicate;
    const Stored there = stored_at(series, ref, t);
    if (there.code != Code::Ok) return there.code;
    if (!there.value) return Code::Internal;
    return std::bit_cast<uint64_t>(*there.value) == bits ? Code::Ok : Code::Duplicate;
  }

  void forget() {
    std::vector<Slot> slots;
    slots.reserve(batch_.fresh.size());
    for (const FreshSeries& fresh : batch_.fresh) slots.push_back(fresh.slot);
    core_.head_.settle(slots, false);
    batch_ = CommitBatch();
    late_.clear();
    disk_.clear();
    index_.clear();
    fresh_.clear();
    last_slot_ = HeadIndex::kNone;
  }

  StoreCore& core_;
  const bool any_age_;
  TimeBounds bounds_;
  uint32_t now_;
  CommitBatch batch_;
  StagedIndex fresh_;  // slot → index in batch_.fresh
  StagedIndex index_;
  std::map<std::pair<Slot, int64_t>, uint64_t> late_;
  DiskLookup disk_;
  Slot last_slot_ = HeadIndex::kNone;
  uint32_t last_index_ = 0;
};

}  // namespace

std::unique_ptr<Appender> StoreCore::appender(bool any_age) {
  return std::make_unique<RocksAppender>(*this, any_age);
}

TimeBounds StoreCore::bounds(bool any_age) const {
  TimeBounds bounds;
  if (const int64_t newest = newest_.load(std::memory_order_relaxed); newest != kNoTime)
    bounds.newest = from_millis(newest);
  bounds.now = options_.clock->now();
  bounds.retention = Duration(retention_ms_.load(std::memory_order_relaxed));
  bounds.out_of_order_window = Duration(window_ms_.load(std::memory_order_relaxed));
  bounds.any_age = any_age;
  return bounds;
}

}  // namespace vagt::tsdb
