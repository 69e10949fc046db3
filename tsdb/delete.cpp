// Deleting samples: at once and for good, in memory and on disk; no tombstones are kept.
#include <algorithm>

#include "tsdb/core.h"
#include "tsdb/sealed_index.h"

namespace vagt::tsdb {
namespace {

void keep_outside(const RawColumns& all, int64_t mint, int64_t maxt, RawColumns& kept) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all.t[i] < mint || all.t[i] > maxt) kept.push(all.t[i], all.v[i]);
}

}  // namespace

Status StoreCore::erase_from_disk(const Labels& labels, SeriesId id, int64_t mint, int64_t maxt) {
  Batch batch;
  auto scan = db_->scan(Family::Chunks);
  for (const Day day : days_between(mint, maxt)) {
    const std::string prefix = chunk_prefix(day, id);
    for (scan->seek(prefix); scan->valid() && scan->key().substr(0, prefix.size()) == prefix;
         scan->next()) {
      const auto key = parse_chunk_key(scan->key());
      const auto span = chunk_span(scan->value());
      RawColumns all, kept;
      if (!key || !span || !decode_chunk(scan->value(), all))
        return {Code::Corruption, "a chunk of " + labels.to_string() + " is damaged"};
      keep_outside(all, mint, maxt, kept);
      if (kept.size() == all.size()) continue;
      batch.erase(Family::Chunks, scan->key());
      if (kept.size() == 0) continue;
      std::string chunk;
      encode_chunk(kept.t, kept.v, chunk);
      batch.put(Family::Chunks, chunk_key({key->day, id, kept.t.front(), key->order}), chunk);
    }
    VAGT_CHECK_OK(scan->status());
  }
  if (batch.empty()) return {};
  return db_->write(batch, false);
}

Status StoreCore::delete_series(std::span<const Matcher> matchers, int64_t mint, int64_t maxt) {
  base::MutexLock upkeep(upkeep_mutex_);
  if (is_degraded_.load()) return {Code::Unavailable, degraded()};
  std::vector<Slot> emptied;
  {
    base::MutexLock lock(commit_mutex_);
    std::set<SeriesId> in_head;
    for (const Head::Match& match : head_.select(matchers)) {
      Series& series = head_.at(match.slot);
      if (!series.on_disk) continue;
      in_head.insert(match.id);
      VAGT_CHECK_OK(erase_from_disk(match.labels, match.id, mint, maxt));
      {
        base::MutexLock shard(head_.shard(match.slot));
        RawColumns all, kept;
        series.read(kNoTime, INT64_MAX, all);
        keep_outside(all, mint, maxt, kept);
        const int64_t newest = series.newest_t.load(std::memory_order_relaxed);
        if (kept.size() == all.size() && (newest < mint || newest > maxt)) continue;
        series.clear_samples();
        series.newest_t.store(kNoTime, std::memory_order_relaxed);
        series.forget_disk_last_t();
        for (size_t i = 0; i < kept.size(); ++i) series.append(kept.t[i], kept.v[i]);
        series.dirty = true;
      }
      const Status restored = restore_newest(match.slot);
      if (series.extra() != nullptr) to_seal_.push_back(match.slot);
      VAGT_CHECK_OK(restored);
      if (series.newest_t.load() == kNoTime) emptied.push_back(match.slot);
    }
    SealedIndex index(*db_);
    std::set<SeriesId> ids;
    for (const Day day : days_between(mint, maxt)) VAGT_CHECK_OK(index.select(day, matchers, ids));
    for (const SeriesId id : ids) {
      if (in_head.contains(id)) continue;
      VAGT_TRY(const auto labels, index.labels(id));
      if (labels && matches_all(matchers, *labels))
        VAGT_CHECK_OK(erase_from_disk(*labels, id, mint, maxt));
    }
    ++sequence_;  // head records written from now on are beyond every journalled sample
    visible_.store(sequence_, std::memory_order_release);
  }
  // The journal still has what was deleted.
  VAGT_CHECK_OK(checkpoint());
  base::MutexLock lock(commit_mutex_);
  Batch batch;
  std::erase_if(emptied, [&](Slot slot) {
    Series& series = head_.at(slot);
    return series.newest_t.load() != kNoTime || series.has_open() || series.extra() != nullptr;
  });
  for (const Slot slot : emptied) batch.erase(Family::Head, head_key(head_.at(slot).id));
  if (batch.empty()) return {};
  VAGT_CHECK_OK(db_->write(batch, false));
  head_.remove(emptied);
  return {};
}

Status StoreCore::clean_tombstones() {
  base::MutexLock upkeep(upkeep_mutex_);
  if (is_degraded_.load()) return {Code::Unavailable, degraded()};
  VAGT_CHECK_OK(db_->compact(Family::Chunks));
  return db_->compact(Family::Postings);
}

}  // namespace vagt::tsdb
