// The write path: samples are staged, then journalled, then visible.
#include <algorithm>
#include <array>
#include <bit>

#include "tsdb/core.h"
#include "tsdb/disk_lookup.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kSealInline = 4096;  // series with closed chunks after which a commit writes them

constexpr size_t kMostExpected = 16'384;  // samples an appender makes room for before they come
constexpr size_t kAhead = 6;              // series to fetch from memory before their turn

void prefetch(const Series& series) {
  const char* at = reinterpret_cast<const char*>(&series);
  for (size_t line = 0; line < sizeof series; line += 64) __builtin_prefetch(at + line, 1);
}

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
      const auto there =
          newer_staged ? std::optional(batch_.samples[staged].v) : value_at(*series, slot, t);
      return there && bits == std::bit_cast<uint64_t>(*there) ? Code::Ok : Code::Duplicate;
    }
    if (admission.late) {
      if (const Code code = check_late(*series, slot, t, bits); code != Code::Internal) return code;
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

  // `t` was the newest a moment ago.
  std::optional<double> value_at(const Series& series, Slot slot, int64_t t) {
    {
      base::MutexLock lock(core_.head_.shard(slot));
      double value;
      if (series.newest_t.load(std::memory_order_relaxed) == t) return series.newest_value();
      if (series.find(t, value)) return value;
    }
    return disk_.find(series.id, t);
  }

  // Internal: nothing of that time is staged, in memory or on disk.
  Code check_late(Series& series, Slot slot, int64_t t, uint64_t bits) {
    if (const auto it = late_.find({slot, t}); it != late_.end())
      return it->second == bits ? Code::Ok : Code::Duplicate;
    for (const StagedSample& staged : batch_.samples)  // in order in this very batch
      if (staged.slot == slot && staged.t == t)
        return std::bit_cast<uint64_t>(staged.v) == bits ? Code::Ok : Code::Duplicate;
    std::optional<double> there;
    bool maybe_on_disk = false;
    {
      base::MutexLock lock(core_.head_.shard(slot));
      double value;
      if (series.find(t, value)) there = value;
      maybe_on_disk = t <= series.disk_last_t();
    }
    if (!there && maybe_on_disk) there = disk_.find(series.id, t);
    if (!there) return Code::Internal;
    return std::bit_cast<uint64_t>(*there) == bits ? Code::Ok : Code::Duplicate;
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

// The id the labels have on disk from earlier, so that a series that comes back is the same.
Result<SeriesId> StoreCore::disk_id(const Labels& labels) {
  VAGT_TRY(const auto ids, db_->peek(Family::Series, fingerprint_key(labels.fingerprint())));
  if (!ids) return SeriesId{0};
  for (ByteReader in(*ids); !in.done() && in.ok();) {
    const SeriesId id = in.varint();
    VAGT_TRY(const auto stored, db_->peek(Family::Series, series_key(id)));
    if (!stored) continue;
    if (const auto decoded = decode_labels(*stored); decoded && *decoded == labels) return id;
  }
  return SeriesId{0};
}

// A series that comes back goes on where its chunks on disk end.
Status StoreCore::restore_newest(Slot slot) {
  Series& series = head_.at(slot);
  std::vector<Day> days;
  {
    base::MutexLock lock(days_mutex_);
    days.assign(days_.rbegin(), days_.rend());
  }
  auto scan = db_->scan(Family::Chunks);
  RawColumns last;
  for (const Day day : days) {
    const std::string prefix = chunk_prefix(day, series.id);
    for (scan->seek(prefix); scan->valid() && scan->key().substr(0, prefix.size()) == prefix;
         scan->next()) {
      RawColumns columns;
      if (decode_chunk(scan->value(), columns) &&
          (last.t.empty() || columns.t.back() > last.t.back()))
        last = std::move(columns);
    }
    VAGT_CHECK_OK(scan->status());
    if (!last.t.empty()) break;
  }
  base::MutexLock lock(head_.shard(slot));
  if (last.t.empty() || series.newest_t.load(std::memory_order_relaxed) >= last.t.back()) return {};
  series.raise_disk_last_t(last.t.back());
  series.resume_after(last.t.back(), last.v.back());
  return {};
}

Result<Head::Found> StoreCore::find_or_create(const Labels& labels) {
  Head::Found found = head_.find(labels, true);
  if (found.ref != SeriesRef::None) return found;
  if (labels.size() > PairLists::kMostPairs)
    return Status::invalid("a series has at most " + std::to_string(PairLists::kMostPairs) +
                           " labels");
  if (Status admitted = guard_.admit(head_.size()); !admitted.ok()) {
    metrics_.series_refused.add();
    return admitted;
  }
  VAGT_TRY(const SeriesId known, disk_id(labels));
  found = head_.find_or_create(labels, known != 0 ? known : next_id_.fetch_add(1));
  if (found.ref == SeriesRef::None)
    return Status(Code::LimitExceeded, "the head holds no more series");
  if (known != 0 && found.fresh) VAGT_CHECK_OK(restore_newest(found.slot));
  return found;
}

Status StoreCore::commit(CommitBatch& batch) {
  base::MutexLock lock(commit_mutex_);
  // Asked before each commit: once RocksDB itself has met a full disk it may not come back (see
  // resume_if_room).
  if (!is_degraded_.load(std::memory_order_relaxed)) {
    if (const Status enough = room(); !enough.ok()) enter_degraded(enough.message());
  }
  if (is_degraded_.load(std::memory_order_relaxed)) {
    metrics_.commits_failed.add();
    return {Code::Unavailable, degraded()};
  }
  for (const StagedSample& sample : batch.samples)
    if (head_.at(sample.slot).generation.load(std::memory_order_relaxed) != sample.generation)
      return {Code::NotFound, "a series of the batch was retired meanwhile"};
  if (const Status written = write_commit(batch); !written.ok()) {
    metrics_.commits_failed.add();
    enter_degraded(written.message());
    return {Code::Unavailable, written.message()};
  }
  apply(batch);
  metrics_.commits.add();
  metrics_.samples.add(static_cast<double>(batch.samples.size()));
  if (to_seal_.size() < kSealInline) return {};
  if (const Status sealed = seal_pending(); !sealed.ok()) enter_degraded(sealed.message());
  return {};
}

Status StoreCore::write_commit(CommitBatch& batch) {
  Batch out;
  JournalWriter journal(batch.samples.size());
  for (const StagedSample& sample : batch.samples)
    journal.add(head_.at(sample.slot).id, sample.t, sample.v);
  std::vector<Series*> stored;
  if (!batch.fresh.empty()) {
    std::set<Slot> used;
    for (const StagedSample& sample : batch.samples) used.insert(sample.slot);
    for (const FreshSeries& fresh : batch.fresh) {
      Series& series = head_.at(fresh.slot);
      if (series.on_disk || !used.contains(fresh.slot)) continue;
      out.put(Family::Series, series_key(series.id), encode_labels(fresh.labels));
      std::string id;
      put_varint(id, series.id);
      out.append(Family::Series, fingerprint_key(fresh.labels.fingerprint()), id);
      // Recovery must know where its chunks end before it replays the journal.
      if (series.disk_last_t() != kNoTime) {
        std::string record;
        series.save(sequence_, record);
        out.put(Family::Head, head_key(series.id), record);
      }
      stored.push_back(&series);
    }
  }
  for (const auto& [metric, metadata] : batch.metadata) {
    {
      base::MutexLock lock(metadata_mutex_);
      const auto known = metadata_.find(metric);
      if (known != metadata_.end() && known->second == metadata) continue;
    }
    out.put(Family::Meta, meta_metadata_key(metric), encode_metadata(metadata));
  }
  if (!batch.samples.empty())
    out.put(Family::Journal, journal_key(sequence_ + 1), journal.record());
  if (out.empty()) return {};
  VAGT_CHECK_OK(db_->write(out, false));
  log_dirty_.store(true, std::memory_order_relaxed);
  for (Series* series : stored) series->on_disk = true;
  metrics_.series_created.add(static_cast<double>(stored.size()));
  journal_size_ += journal.record().size() + 16;
  return {};
}

void StoreCore::apply(CommitBatch& batch) {
  {
    base::MutexLock lock(metadata_mutex_);
    for (auto& [metric, metadata] : batch.metadata) metadata_[metric] = metadata;
  }
  if (batch.samples.empty()) return;
  batch_size_.store(std::min(batch.samples.size(), kMostExpected), std::memory_order_relaxed);
  // By shard, each in the order of the batch.
  std::array<uint32_t, Head::kShards + 1> begin{};
  for (const StagedSample& s : batch.samples) ++begin[Head::shard_number(s.slot) + 1];
  for (size_t i = 0; i < Head::kShards; ++i) begin[i + 1] += begin[i];
  std::vector<uint32_t> order(batch.samples.size());
  auto next = begin;
  for (uint32_t i = 0; i < batch.samples.size(); ++i)
    order[next[Head::shard_number(batch.samples[i].slot)]++] = i;

  base::MutexLock applying(apply_mutex_);
  const uint64_t sequence = sequence_ + 1;
  const int64_t watched = readers_.watched_until();
  int64_t newest = newest_.load(std::memory_order_relaxed);
  int64_t oldest = oldest_.load(std::memory_order_relaxed);
  for (size_t shard = 0; shard < Head::kShards; ++shard) {
    if (begin[shard] == begin[shard + 1]) continue;
    std::vector<SlotTime> watched_samples;
    base::MutexLock lock(head_.shard(batch.samples[order[begin[shard]]].slot));
    for (uint32_t i = begin[shard]; i < begin[shard + 1]; ++i) {
      if (i + kAhead < batch.samples.size())
        prefetch(head_.at(batch.samples[order[i + kAhead]].slot));
      const StagedSample& s = batch.samples[order[i]];
      Series& series = head_.at(s.slot);
      const size_t closed = series.extra() != nullptr ? series.extra()->closed.size() : 0;
      const int64_t last = series.newest_t.load(std::memory_order_relaxed);
      if (s.t > last) {
        series.append(s.t, s.v);
      } else if (s.t == last || !series.append_late(s.t, s.v, sequence)) {
        continue;  // another appender was first
      }
      if (s.t <= watched) watched_samples.push_back({s.slot, s.t});
      newest = std::max(newest, s.t);
      oldest = std::min(oldest, s.t);
      if (series.extra() != nullptr && series.extra()->closed.size() > closed)
        to_seal_.push_back(s.slot);
    }
    // Before the shard is let go: a reader that finds these samples must know to hide them.
    if (!watched_samples.empty()) readers_.record(sequence, std::move(watched_samples));
  }
  newest_.store(newest, std::memory_order_relaxed);
  oldest_.store(oldest, std::memory_order_relaxed);
  sequence_ = sequence;
  visible_.store(sequence, std::memory_order_release);
  std::vector<Slot> kept;
  for (const FreshSeries& fresh : batch.fresh)
    if (head_.at(fresh.slot).newest_t.load(std::memory_order_relaxed) != kNoTime)
      kept.push_back(fresh.slot);
  head_.settle(kept, true);
}

}  // namespace vagt::tsdb
