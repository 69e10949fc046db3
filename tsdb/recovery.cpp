// Opening: head records first, then the journal on top of them; labels come beside that.
#include <unordered_map>

#include "tsdb/core.h"
#include "tsdb/series_namer.h"

namespace vagt::tsdb {

std::string meta_metadata_key(std::string_view metric) { return "m" + std::string(metric); }

constexpr Slot kUnseen = HeadIndex::kNone - 1;

// What is needed only while the journal is replayed.
// Runs with the commit mutex held; the analysis cannot see it through the reference.
struct RecoveryState {
  StoreCore& core;
  SeriesNamer namer;
  const uint32_t now;
  std::vector<Slot> slots;         // by series id; ids are given out one after the other
  std::vector<uint64_t> saved_at;  // by slot: the sequence its head record includes
  std::vector<Slot> damaged;       // whose head records are
  std::unordered_map<SeriesId, uint64_t> unknown;  // series whose labels are lost → samples
  uint64_t damaged_commits = 0, missing_commits = 0, samples = 0;

  explicit RecoveryState(StoreCore& store)
      : core(store),
        namer(*store.db_, store.head_),
        now(store.now_seconds()),
        slots(store.next_id_.load(), kUnseen) {}

  Status load_head() VAGT_NO_THREAD_ANALYSIS;
  Status replay_journal() VAGT_NO_THREAD_ANALYSIS;
  void replay(uint64_t sequence, std::string_view record) VAGT_NO_THREAD_ANALYSIS;
  Slot slot_of(SeriesId id);
  void finish_names();
  void report() const;
};

Status StoreCore::check_format() {
  VAGT_TRY(const auto stored, db_->get(Family::Meta, kFormatKey));
  const auto mark = [this] {
    std::string version;
    put_big_endian(version, kFormatVersion);
    Batch batch;
    batch.put(Family::Meta, kFormatKey, version);
    return db_->write(batch, true);
  };
  if (!stored) return mark();
  ByteReader in(*stored);
  const uint32_t version = in.big_endian<uint32_t>();
  if (!in.ok()) return {Code::Corruption, "the format marker is damaged"};
  if (version > kFormatVersion)
    return Status::invalid("the data has format " + std::to_string(version) +
                           ", written by a newer vagtd; this one reads up to format " +
                           std::to_string(kFormatVersion));
  // What is there is read as it is; what is written from now on an older program cannot read.
  if (version < kFormatVersion) return mark();
  return {};
}

Status StoreCore::load_meta() {
  VAGT_TRY(const auto retired, db_->get(Family::Meta, kRetiredKey));
  if (retired) retired_max_.store(ByteReader(*retired).zigzagged());
  auto scan = db_->scan(Family::Meta);
  base::MutexLock lock(metadata_mutex_);
  for (scan->seek("m"); scan->valid() && scan->key().substr(0, 1) == "m"; scan->next())
    if (const auto metadata = decode_metadata(scan->value()))
      metadata_[std::string(scan->key().substr(1))] = *metadata;
  VAGT_CHECK_OK(scan->status());
  auto series = db_->scan(Family::Series);
  series->seek_to_last();
  if (series->valid() && series->key().substr(0, 1) == "i")
    next_id_.store(ByteReader(series->key().substr(1)).big_endian<uint64_t>() + 1);
  return series->status();
}

Status StoreCore::load_days() {
  auto scan = db_->scan(Family::Chunks);
  int64_t oldest = INT64_MAX;
  base::MutexLock lock(days_mutex_);
  for (scan->seek(""); scan->valid();) {
    const Day day = parse_day(scan->key());
    if (days_.empty()) oldest = day * kDayMillis;
    days_.insert(day);
    if (day == INT32_MAX) break;
    scan->seek(day_key(day + 1));
  }
  VAGT_CHECK_OK(scan->status());
  // The first day's earliest sample, as exactly as a bounded look can tell.
  constexpr int kLook = 20'000;
  if (!days_.empty()) {
    int64_t first = INT64_MAX;
    int seen = 0;
    for (scan->seek(day_key(*days_.begin())); scan->valid() && seen < kLook; scan->next()) {
      const auto key = parse_chunk_key(scan->key());
      if (!key || key->day != *days_.begin()) break;
      first = std::min(first, key->first_t);
      ++seen;
    }
    oldest_.store(seen < kLook ? first : oldest);
  }
  for (const Day day : days_) {
    VAGT_TRY(const auto marker, db_->get(Family::Meta, compacted_key(day)));
    if (marker) compacted_.insert(day);
  }
  return {};
}

Status RecoveryState::load_head() {
  auto records = core.db_->sweep(Family::Head);
  for (records->seek(""); records->valid(); records->next()) {
    const SeriesId id = ByteReader(records->key()).big_endian<uint64_t>();
    const Slot slot = slot_of(id);
    if (slot == HeadIndex::kNone) continue;
    uint64_t sequence = 0;
    Series& series = core.head_.at(slot);
    if (!series.restore(records->value(), sequence)) {
      damaged.push_back(slot);
      ++damaged_commits;
    }
    saved_at[slot] = sequence;
    core.sequence_ = std::max(core.sequence_, sequence);
    core.oldest_.store(std::min(core.oldest_.load(), series.oldest_t()));
    core.newest_.store(std::max(core.newest_.load(), series.newest_t.load()));
    if (series.extra() != nullptr && !series.extra()->closed.empty()) core.to_seal_.push_back(slot);
  }
  return records->status();
}

Slot RecoveryState::slot_of(SeriesId id) {
  if (id >= slots.size()) return HeadIndex::kNone;
  Slot& slot = slots[id];
  if (slot != kUnseen) return slot;
  slot = core.head_.reserve(id);
  if (slot == HeadIndex::kNone) return slot;
  namer.add(id, slot);
  Series& series = core.head_.at(slot);
  series.on_disk = true;
  series.touched.store(now, std::memory_order_relaxed);
  // Without a head record nothing says how far its chunks on disk reach.
  series.raise_disk_last_t(core.retired_max_.load());
  if (saved_at.size() <= slot) saved_at.resize(slot * 2 + 1024, 0);
  return slot;
}

void RecoveryState::finish_names() {
  for (const Slot slot : namer.finish()) {
    Series& series = core.head_.at(slot);
    RawColumns lost;
    series.read(INT64_MIN, INT64_MAX, lost);
    unknown[series.id] += lost.size();
    samples -= std::min<uint64_t>(samples, lost.size());
    core.head_.give_up(slot);
  }
  for (const Slot slot : damaged)
    if (core.head_.at(slot).generation.load(std::memory_order_relaxed) != 0)
      core.log_.error("a head record is damaged; its newest samples may be lost",
                      {{"series", core.head_.labels(slot).to_string()}});
}

void RecoveryState::replay(uint64_t sequence, std::string_view record) {
  JournalReader reader(record);
  while (const auto sample = reader.next()) {
    const Slot slot = slot_of(sample->id);
    if (slot == HeadIndex::kNone) {
      ++unknown[sample->id];
      continue;
    }
    if (sequence <= saved_at[slot]) continue;
    Series& series = core.head_.at(slot);
    const size_t closed = series.extra() != nullptr ? series.extra()->closed.size() : 0;
    if (sample->t > series.newest_t.load(std::memory_order_relaxed)) {
      series.append(sample->t, sample->v);
    } else {
      series.append_late(sample->t, sample->v, sequence);
    }
    if (series.extra() != nullptr && series.extra()->closed.size() > closed)
      core.to_seal_.push_back(slot);
    core.newest_.store(std::max(core.newest_.load(std::memory_order_relaxed), sample->t),
                       std::memory_order_relaxed);
    core.oldest_.store(std::min(core.oldest_.load(std::memory_order_relaxed), sample->t),
                       std::memory_order_relaxed);
    ++samples;
  }
  if (reader.damaged()) ++damaged_commits;
}

Status RecoveryState::replay_journal() {
  VAGT_TRY(const auto stored, core.db_->get(Family::Meta, kSequenceKey));
  if (stored) core.sequence_ = std::max(core.sequence_, ByteReader(*stored).varint());
  core.journal_begin_ = core.sequence_ + 1;
  uint64_t expected = 0;
  auto records = core.db_->sweep(Family::Journal);
  for (records->seek(""); records->valid(); records->next()) {
    const uint64_t sequence = ByteReader(records->key()).big_endian<uint64_t>();
    if (expected != 0 && sequence > expected) missing_commits += sequence - expected;
    expected = sequence + 1;
    core.journal_begin_ = std::min(core.journal_begin_, sequence);
    core.sequence_ = std::max(core.sequence_, sequence);
    core.journal_size_ += records->value().size() + 16;
    replay(sequence, records->value());
  }
  return records->status();
}

void RecoveryState::report() const {
  uint64_t lost = 0;
  for (const auto& [id, count] : unknown) lost += count;
  core.metrics_.samples_lost.add(static_cast<double>(lost));
  if (lost > 0 || damaged_commits > 0 || missing_commits > 0)
    core.log_.error("the journal was damaged; the rest was recovered",
                    {{"missing_commits", missing_commits},
                     {"damaged_commits", damaged_commits},
                     {"series_without_labels", unknown.size()},
                     {"samples_lost", lost}});
  core.log_.info("store opened", {{"series", core.head_.size()}, {"journal_samples", samples}});
}

Status StoreCore::recover() {
  base::MutexLock lock(commit_mutex_);
  VAGT_CHECK_OK(check_format());
  VAGT_CHECK_OK(load_meta());
  VAGT_CHECK_OK(load_days());
  RecoveryState state(*this);
  VAGT_CHECK_OK(state.load_head());
  VAGT_CHECK_OK(state.replay_journal());
  state.finish_names();
  newest_.store(std::max(newest_.load(), retired_max_.load()));
  visible_.store(sequence_, std::memory_order_release);
  state.report();
  return {};
}

}  // namespace vagt::tsdb
