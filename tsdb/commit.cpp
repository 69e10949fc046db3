// The write path's second half: what an appender staged is journalled, applied to the head,
// visible.
#include <algorithm>
#include <array>

#include "tsdb/core.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kSealInline = 4096;  // series with closed chunks after which a commit writes them

constexpr size_t kMostExpected = 16'384;  // samples that appenders make room for before they come
constexpr size_t kAhead = 6;              // series to fetch from memory before their turn

void prefetch(const Series& series) {
  const char* at = reinterpret_cast<const char*>(&series);
  for (size_t line = 0; line < sizeof series; line += 64) __builtin_prefetch(at + line, 1);
}

}  // namespace

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
