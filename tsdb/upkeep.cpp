// What runs beside reading and writing: the second's fsync, retention, idle series, a full disk.
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/worker_pool.h"
#include "tsdb/core.h"
#include "tsdb/sealed_index.h"

namespace vagt::tsdb {

std::string ballast_path(const std::string& directory) { return directory + "/ballast"; }

namespace {

constexpr Duration kSlowUpkeep = std::chrono::minutes(1);

// Room that is given up when the disk is full, so that alert state can still be recorded.
void make_ballast(const std::string& directory, uint64_t bytes) {
  if (bytes == 0) return;
  const int fd = ::open(ballast_path(directory).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
  if (fd < 0) return;
  const bool made = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0;
  ::close(fd);
  if (!made) ::unlink(ballast_path(directory).c_str());
}

// What a resume may write besides the memtables: manifest, a new log.
constexpr uint64_t kResumeSlack = 1u << 20;

// What tells a directory from another one in its place.
std::pair<uint64_t, uint64_t> identity_of(const std::string& directory) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

uint64_t free_bytes(const std::string& directory) {
  std::error_code error;
  const auto space = std::filesystem::space(directory, error);
  return error ? UINT64_MAX : space.available;
}

}  // namespace

void StoreCore::enter_degraded(const std::string& why, bool whatever_was) {
  {
    base::MutexLock lock(degraded_mutex_);
    if (whatever_was ? degraded_ == why : !degraded_.empty()) return;
    degraded_ = why;
    is_degraded_.store(true);
    metrics_.degraded.set(1);
    ::unlink(ballast_path(options_.path).c_str());
  }
  log_.error("the store refuses samples; queries and rules go on with those it has",
             {{"reason", why}});
  // With the ballast's room, alert state can be written on while samples are not.
  resume_if_room().ignore("tried again at each upkeep");
}

// RocksDB writes its memtables out to resume, and RocksDB 7.8 waits for ever when the disk fills up
// under that: so only where they fit. Holds no lock of ours.
Status StoreCore::resume_if_room() {
  const uint64_t needed = db_->memtable_bytes() + kResumeSlack;
  if (const uint64_t free = free_bytes(options_.path); free < needed)
    return {Code::Unavailable,
            std::to_string(free) + " bytes free, " + std::to_string(needed) + " are needed"};
  return db_->resume();
}

std::string StoreCore::degraded() const {
  base::MutexLock lock(degraded_mutex_);
  return degraded_;
}

// Taken away under us (rm -rf, an unmount) or replaced: writes would go to files that nobody finds
// again.
Status StoreCore::present() const {
  if (identity_of(options_.path) == directory_ &&
      ::access((options_.path + "/CURRENT").c_str(), F_OK) == 0)
    return {};
  return {Code::Unavailable, "the data directory " + options_.path +
                                 " or its files were removed while in use: what is in memory will "
                                 "be lost at the next restart; put them back, or restart"};
}

Status StoreCore::room() const {
  const uint64_t free = free_bytes(options_.path);
  if (free >= options_.min_free_bytes) return {};
  return {Code::Unavailable, "disk full: " + std::to_string(free) + " bytes free in " +
                                 options_.path + ", at least " +
                                 std::to_string(options_.min_free_bytes) + " are needed"};
}

void StoreCore::check_room() {
  if (const Status there = present(); !there.ok()) {
    enter_degraded(there.message(), true);
    return;
  }
  if (!is_degraded_.load()) {
    if (const Status enough = room(); !enough.ok()) enter_degraded(enough.message());
    return;
  }
  const uint64_t free = free_bytes(options_.path);
  const Status resumed = resume_if_room();
  // With a margin, so that it does not flap at the edge.
  if (free <= options_.min_free_bytes + options_.min_free_bytes / 2 + 2 * options_.ballast_bytes)
    return;
  if (!resumed.ok()) {
    log_.warn("there is room again, but the storage engine does not resume",
              {{"error", resumed.message()}});
    return;
  }
  // After a failed fsync the kernel may have dropped what it could not write, and the next fsync
  // would call that a success: memory writes it anew, in files of its own.
  if (sync_failed_.load()) {
    if (const Status rewritten = db_->flush(); !rewritten.ok()) {
      log_.warn("the disk still does not take writes", {{"error", rewritten.message()}});
      return;
    }
    sync_failed_.store(false);
  }
  make_ballast(options_.path, options_.ballast_bytes);
  base::MutexLock lock(degraded_mutex_);
  degraded_.clear();
  is_degraded_.store(false);
  metrics_.degraded.set(0);
  log_.info("the store takes writes again", {{"free_bytes", free}});
}

void StoreCore::start_background() {
  directory_ = identity_of(options_.path);
  if (free_bytes(options_.path) > options_.min_free_bytes + 2 * options_.ballast_bytes)
    make_ballast(options_.path, options_.ballast_bytes);
  if (!options_.background) return;
  thread_ = std::jthread([this](std::stop_token stop) {
    base::set_thread_name("tsdb-upkeep");
    while (options_.clock->sleep_until(options_.clock->now() + std::chrono::seconds(1), stop)) {
      if (const Status status = step(options_.clock->now()); !status.ok())
        log_.warn("store upkeep failed", {{"error", status.message()}});
    }
  });
}

Status StoreCore::step(Timestamp now) {
  base::MutexLock upkeep(upkeep_mutex_);
  check_room();
  if (is_degraded_.load()) return {};
  if (log_dirty_.exchange(false)) {
    if (const Status synced = db_->sync_log(); !synced.ok()) {
      sync_failed_.store(true);
      log_dirty_.store(true);
      enter_degraded("fsync failed: " + synced.message());
      return synced;
    }
  }
  bool journal_full = false;
  {
    base::MutexLock lock(commit_mutex_);
    if (const Status sealed = seal_pending(); !sealed.ok()) {
      enter_degraded(sealed.message());
      return sealed;
    }
    journal_full = journal_size_ > options_.journal_bytes;
    metrics_.journal_bytes.set(static_cast<double>(journal_size_));
  }
  release_sealed();
  metrics_.series.set(static_cast<double>(head_.size()));
  guard_.measure(head_, now);
  if (journal_full) VAGT_CHECK_OK(checkpoint());
  VAGT_CHECK_OK(apply_retention());
  if (now - last_slow_upkeep_ < kSlowUpkeep && now >= last_slow_upkeep_) return {};
  last_slow_upkeep_ = now;
  retire_idle(now);
  head_.tidy();
  // Chunks that went to disk leave holes between those that stay: whole free pages go back.
  ::malloc_trim(0);
  metrics_.disk_bytes.set(static_cast<double>(disk_bytes()));
  return compact_days(false);
}

uint64_t StoreCore::disk_bytes() const {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.path, error))
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  return bytes;
}

// Two phases: what goes is hidden from new readers at once and removed when the last reader that
// may still see it is done.
Status StoreCore::apply_retention() {
  std::vector<Day> doomed;
  const auto horizon = retention_horizon(bounds(false));
  {
    base::MutexLock lock(days_mutex_);
    if (horizon)
      for (const Day day : days_)
        if (day < day_of(to_millis(*horizon))) doomed.push_back(day);
    if (const auto limit = static_cast<uint64_t>(retention_bytes_.load()); limit > 0) {
      uint64_t used = db_->file_bytes(Family::Chunks) + db_->file_bytes(Family::Postings);
      for (const Day day : days_) {
        if (used <= limit || day == *days_.rbegin()) break;
        const uint64_t size = db_->range_bytes(Family::Chunks, day_key(day), day_key(day + 1)) +
                              db_->range_bytes(Family::Postings, day_key(day), day_key(day + 1));
        used -= std::min(used, size);
        if (std::find(doomed.begin(), doomed.end(), day) == doomed.end()) doomed.push_back(day);
      }
    }
  }
  if (doomed.empty()) return {};
  if (drop_before_.load() <= doomed.back()) {
    drop_before_.store(doomed.back() + 1);
    drop_epoch_ = readers_.next_epoch();
  }
  if (readers_.min_epoch() <= drop_epoch_) return {};
  base::MutexLock lock(commit_mutex_);
  for (const Day day : doomed) forget_series_of(day);
  drop_before_.store(INT32_MIN);
  return drop_days(doomed.front(), doomed.back());
}

Status StoreCore::drop_days(Day first, Day last) {
  const std::string begin = day_key(first), end = day_key(last + 1);
  VAGT_CHECK_OK(db_->drop_range(Family::Chunks, begin, end));
  VAGT_CHECK_OK(db_->drop_range(Family::Postings, begin, end));
  Batch markers;
  base::MutexLock lock(days_mutex_);
  for (Day day = first; day <= last; ++day) {
    if (compacted_.erase(day) > 0) markers.erase(Family::Meta, compacted_key(day));
    if (days_.erase(day) > 0) metrics_.days_dropped.add();
  }
  oldest_.store(std::max(oldest_.load(), int64_t{last + 1} * kDayMillis));
  log_.info("retention dropped days", {{"first_day", first}, {"last_day", last}});
  if (markers.empty()) return {};
  return db_->write(markers, false);
}

// The labels of series that only this day had.
void StoreCore::forget_series_of(Day day) {
  SealedIndex index(*db_);
  const auto ids = index.all(day);
  if (!ids) return;
  std::unordered_set<SeriesId> gone(ids->begin(), ids->end());
  for (Slot slot = 0; slot < head_.slots() && !gone.empty(); ++slot)
    if (head_.at(slot).generation.load(std::memory_order_acquire) != 0)
      gone.erase(head_.at(slot).id);
  std::set<Day> others;
  {
    base::MutexLock lock(days_mutex_);
    others = days_;
  }
  for (const Day other : others) {
    if (other == day || gone.empty()) continue;
    if (const auto kept = index.all(other))
      for (const SeriesId id : *kept) gone.erase(id);
  }
  Batch batch;
  for (const SeriesId id : gone) {
    const auto labels = index.labels(id);
    if (!labels || !*labels) continue;
    batch.erase(Family::Series, series_key(id));
    const std::string key = fingerprint_key((*labels)->fingerprint());
    const auto list = db_->get(Family::Series, key);
    std::string own;
    put_varint(own, id);
    if (list && *list && **list == own) batch.erase(Family::Series, key);
  }
  db_->write(batch, false).ignore("labels nobody asks for take room only");
}

// A series without samples for a while goes to disk and leaves memory.
void StoreCore::retire_idle(Timestamp now) {
  const int64_t idle =
      std::chrono::duration_cast<std::chrono::seconds>(options_.idle_after).count();
  const int64_t limit = to_millis(now) / 1000 - idle;
  base::MutexLock lock(commit_mutex_);
  std::vector<Slot> retired;
  Batch batch;
  int64_t newest = retired_max_.load();
  for (Slot slot = 0; slot < head_.slots(); ++slot) {
    Series& series = head_.at(slot);
    if (series.generation.load(std::memory_order_acquire) == 0 || !series.on_disk) continue;
    if (series.touched.load(std::memory_order_relaxed) >= limit) continue;
    base::MutexLock shard(head_.shard(slot));
    series.close_all(sequence_);
    if (series.extra() != nullptr) {
      to_seal_.push_back(slot);  // next time it is on disk and released
      continue;
    }
    batch.erase(Family::Head, head_key(series.id));
    newest = std::max(newest, series.newest_t.load(std::memory_order_relaxed));
    retired.push_back(slot);
  }
  if (retired.empty()) return;
  std::string value;
  put_zigzag(value, newest);
  batch.put(Family::Meta, kRetiredKey, value);
  if (const Status written = db_->write(batch, false); !written.ok()) return;
  retired_max_.store(newest);
  head_.remove(retired);
  metrics_.series_removed.add(static_cast<double>(retired.size()));
}

Status StoreCore::flush() {
  base::MutexLock upkeep(upkeep_mutex_);
  if (is_degraded_.load()) return {Code::Unavailable, degraded()};
  VAGT_CHECK_OK(seal_everything());
  release_sealed();
  VAGT_CHECK_OK(compact_days(true));
  VAGT_CHECK_OK(checkpoint());
  VAGT_CHECK_OK(db_->flush());
  for (size_t i = 0; i < kFamilies; ++i) VAGT_CHECK_OK(db_->compact(static_cast<Family>(i)));
  return {};
}

}  // namespace vagt::tsdb
