// From memory to disk: closed chunks, head records, and days rewritten compactly.
#include <algorithm>

#include "tsdb/core.h"
#include "tsdb/sealed_index.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kSlotsAtOnce = 512;        // series sealed under one hold of the commit mutex
constexpr size_t kCompactBytes = 1u << 20;  // day rewriting, likewise
constexpr size_t kSamplesPerRun = 8192;     // of a rewritten day's chunks
constexpr uint64_t kBeingSealed = UINT64_MAX;

}  // namespace

void StoreCore::touch_compacted_days(const std::set<Day>& touched, Batch& batch) {
  base::MutexLock lock(days_mutex_);
  for (const Day day : touched)
    if (compacted_.erase(day) > 0) batch.erase(Family::Meta, compacted_key(day));
  days_.insert(touched.begin(), touched.end());
}

// Chunks, their postings and the head record without them: one batch, so that a crash leaves a
// sample in exactly one place.
Status StoreCore::seal_slots(std::span<const Slot> slots) {
  Batch batch;
  PostingsBatch postings;
  std::set<Day> touched;
  std::vector<ClosedChunk*> chunks;
  for (const Slot slot : slots) {
    Series& series = head_.at(slot);
    if (series.extra() == nullptr || !series.on_disk) continue;
    int64_t last = kNoTime;
    for (ClosedChunk& chunk : series.extra()->closed) {
      if (chunk.sealed_epoch != 0) continue;
      const Day day = day_of(chunk.span.first_t);
      batch.put(Family::Chunks, chunk_key({day, series.id, chunk.span.first_t, chunk.order}),
                chunk.bytes);
      if (series.indexed_day != day) postings.add(day, series.id, head_.labels(slot));
      series.indexed_day = day;
      touched.insert(day);
      chunk.sealed_epoch = kBeingSealed;
      last = std::max(last, chunk.span.last_t);
      chunks.push_back(&chunk);
    }
    {
      base::MutexLock lock(head_.shard(slot));
      series.raise_disk_last_t(last);
    }
    std::string record;
    series.save(sequence_, record);
    batch.put(Family::Head, head_key(series.id), record);
  }
  if (chunks.empty()) return {};
  postings.write(batch);
  touch_compacted_days(touched, batch);
  const Status written = db_->write(batch, false);
  const uint64_t epoch = written.ok() ? readers_.next_epoch() : 0;
  for (ClosedChunk* chunk : chunks) chunk->sealed_epoch = epoch;
  if (!written.ok()) return written;
  log_dirty_.store(true, std::memory_order_relaxed);
  for (const Slot slot : slots) head_.at(slot).dirty = false;
  sealed_.insert(sealed_.end(), slots.begin(), slots.end());
  metrics_.chunks_written.add(static_cast<double>(chunks.size()));
  return {};
}

Status StoreCore::seal_pending() {
  std::sort(to_seal_.begin(), to_seal_.end());
  to_seal_.erase(std::unique(to_seal_.begin(), to_seal_.end()), to_seal_.end());
  while (!to_seal_.empty()) {
    const size_t n = std::min(kSlotsAtOnce, to_seal_.size());
    VAGT_CHECK_OK(seal_slots({to_seal_.end() - static_cast<std::ptrdiff_t>(n), to_seal_.end()}));
    to_seal_.resize(to_seal_.size() - n);
  }
  return {};
}

Status StoreCore::seal_everything() {
  for (Slot first = 0; first < head_.slots(); first += kSlotsAtOnce) {
    base::MutexLock lock(commit_mutex_);
    const Slot end = std::min<Slot>(head_.slots(), first + kSlotsAtOnce);
    for (Slot slot = first; slot < end; ++slot) {
      Series& series = head_.at(slot);
      if (series.generation.load(std::memory_order_relaxed) == 0 || !series.on_disk) continue;
      base::MutexLock shard(head_.shard(slot));
      series.close_all(sequence_);
      if (series.extra() != nullptr) to_seal_.push_back(slot);
    }
    VAGT_CHECK_OK(seal_pending());
  }
  return {};
}

void StoreCore::release_sealed() {
  base::MutexLock lock(commit_mutex_);
  const uint64_t oldest_reader = readers_.min_epoch();
  std::vector<Slot> later;
  std::sort(sealed_.begin(), sealed_.end());
  sealed_.erase(std::unique(sealed_.begin(), sealed_.end()), sealed_.end());
  for (const Slot slot : sealed_) {
    base::MutexLock shard(head_.shard(slot));
    Series& series = head_.at(slot);
    if (series.extra() == nullptr) continue;
    bool held = false;
    std::erase_if(series.extra()->closed, [&](const ClosedChunk& chunk) {
      if (chunk.sealed_epoch == 0) return false;
      held |= chunk.sealed_epoch >= oldest_reader;
      return chunk.sealed_epoch < oldest_reader;
    });
    if (held) later.push_back(slot);
    series.release_extra_if_empty();
  }
  sealed_ = std::move(later);
}

// Writes what changed since the last time, then lets go of the journal up to there.
Status StoreCore::checkpoint() {
  uint64_t covered = 0, size_before = 0, journal_begin = 0;
  {
    base::MutexLock lock(commit_mutex_);
    covered = sequence_;
    size_before = journal_size_;
    journal_begin = journal_begin_;
  }
  if (size_before == 0) return {};
  for (Slot first = 0; first < head_.slots(); first += kSlotsAtOnce) {
    base::MutexLock lock(commit_mutex_);
    const Slot end = std::min<Slot>(head_.slots(), first + kSlotsAtOnce);
    Batch batch;
    std::string record;
    for (Slot slot = first; slot < end; ++slot) {
      Series& series = head_.at(slot);
      if (!series.dirty || !series.on_disk ||
          series.generation.load(std::memory_order_relaxed) == 0)
        continue;
      record.clear();
      series.save(sequence_, record);
      batch.put(Family::Head, head_key(series.id), record);
    }
    if (batch.empty()) continue;
    VAGT_CHECK_OK(db_->write(batch, false));
    for (Slot slot = first; slot < end; ++slot) head_.at(slot).dirty = false;
  }
  base::MutexLock lock(commit_mutex_);
  Batch batch;
  std::string sequence;
  put_varint(sequence, covered);
  batch.put(Family::Meta, kSequenceKey, sequence);
  VAGT_CHECK_OK(db_->write(batch, false));
  VAGT_CHECK_OK(
      db_->drop_range(Family::Journal, journal_key(journal_begin), journal_key(covered + 1)));
  journal_begin_ = covered + 1;
  journal_size_ -= std::min(journal_size_, size_before);
  metrics_.checkpoints.add();
  return {};
}

namespace {

// All chunks of one series and day, as runs in the order that decides between equal times.
struct SeriesDay {
  ChunkKey key;
  size_t chunks = 0;
  std::vector<Series::Run> runs;
};

Result<bool> read_series_day(Scan& scan, SeriesDay& out) {
  out = SeriesDay();
  std::string prefix;
  for (; scan.valid(); scan.next()) {
    const auto key = parse_chunk_key(scan.key());
    if (!key) return Status(Code::Corruption, "a chunk's key is damaged");
    if (prefix.empty()) {
      out.key = *key;
      prefix = chunk_prefix(key->day, key->id);
    }
    if (key->day != out.key.day || key->id != out.key.id) break;
    Series::Run run;
    run.order = key->order;
    if (!decode_chunk(scan.value(), run.columns))
      return Status(Code::Corruption,
                    "a chunk of series " + std::to_string(key->id) + " is damaged");
    out.runs.push_back(std::move(run));
    ++out.chunks;
  }
  VAGT_CHECK_OK(scan.status());
  return out.chunks > 0;
}

void write_series_day(SeriesDay& series, Batch& batch) {
  RawColumns all;
  merge_runs(series.runs, all);
  const std::string prefix = chunk_prefix(series.key.day, series.key.id);
  batch.erase_range(Family::Chunks, prefix, prefix_end(prefix));
  for (size_t i = 0; i < all.size(); i += kSamplesPerRun) {
    const size_t n = std::min(kSamplesPerRun, all.size() - i);
    std::string chunk;
    encode_chunk(std::span(all.t).subspan(i, n), std::span(all.v).subspan(i, n), chunk,
                 Effort::Small);
    batch.put(Family::Chunks, chunk_key({series.key.day, series.key.id, all.t[i], 0}), chunk);
  }
}

}  // namespace

Status StoreCore::compact_day(Day day) {
  {
    base::MutexLock lock(days_mutex_);
    compacted_.insert(day);  // a chunk that comes meanwhile takes it out again
  }
  std::string from = day_key(day);
  const std::string end = prefix_end(day_key(day));
  for (bool more = true; more;) {
    base::MutexLock lock(commit_mutex_);
    auto scan = db_->scan(Family::Chunks);
    scan->seek(from);
    Batch batch;
    SeriesDay series;
    while (batch.bytes() < kCompactBytes) {
      if (!scan->valid() || scan->key() >= end) break;
      VAGT_TRY(more, read_series_day(*scan, series));
      if (series.chunks > 1) write_series_day(series, batch);
    }
    more = scan->valid() && scan->key() < end;
    if (more) from = scan->key();
    if (!batch.empty()) VAGT_CHECK_OK(db_->write(batch, false));
  }
  base::MutexLock lock(days_mutex_);
  if (!compacted_.contains(day)) return {};
  Batch marker;
  marker.put(Family::Meta, compacted_key(day), "");
  return db_->write(marker, false);
}

// A day is finished once the out-of-order window has passed it.
Status StoreCore::compact_days(bool all) {
  const int64_t newest = newest_.load();
  if (newest == kNoTime) return {};
  const Day unfinished = day_of(newest - window_ms_.load() - kDayMillis / 24);
  std::vector<Day> due;
  {
    base::MutexLock lock(days_mutex_);
    for (const Day day : days_)
      if (!compacted_.contains(day) && (all || day < unfinished)) due.push_back(day);
  }
  for (const Day day : due) VAGT_CHECK_OK(compact_day(day));
  return {};
}

}  // namespace vagt::tsdb
