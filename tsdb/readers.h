// Who is reading since when, so that what they may see neither appears nor goes under their hands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "base/mutex.h"
#include "tsdb/series.h"

namespace vagt::tsdb {

struct SlotTime {
  Slot slot;
  int64_t t;
  friend auto operator<=>(const SlotTime&, const SlotTime&) = default;
};

// A reader sees the commits up to the sequence at which it opened. Later commits that fall into a
// reader's range are few (a query ends at about now); they are remembered here while it lives.
class Readers {
 public:
  struct Reader {
    uint64_t sequence, epoch;
    int64_t maxt;
  };
  using Ticket = std::list<Reader>::iterator;

  Ticket open(uint64_t sequence, int64_t maxt) {
    base::MutexLock lock(mutex_);
    return active_.insert(active_.end(), {sequence, epoch_, maxt});
  }
  void close(Ticket ticket) {
    base::MutexLock lock(mutex_);
    active_.erase(ticket);
    uint64_t oldest = UINT64_MAX;
    for (const Reader& reader : active_) oldest = std::min(oldest, reader.sequence);
    while (!recent_.empty() && recent_.front().sequence <= oldest) recent_.pop_front();
  }

  // Samples at or before this time must be record()ed; kNoTime: none need be.
  int64_t watched_until() const {
    base::MutexLock lock(mutex_);
    int64_t until = kNoTime;
    for (const Reader& reader : active_) until = std::max(until, reader.maxt);
    return until;
  }
  void record(uint64_t sequence, std::vector<SlotTime> added) {
    std::sort(added.begin(), added.end());
    base::MutexLock lock(mutex_);
    if (!active_.empty()) recent_.push_back({sequence, std::move(added)});
  }
  // Times of samples of `slot` that came after `sequence`.
  std::vector<int64_t> hidden(uint64_t sequence, Slot slot) const {
    std::vector<int64_t> times;
    base::MutexLock lock(mutex_);
    for (const Commit& commit : recent_) {
      if (commit.sequence <= sequence) continue;
      auto it = std::lower_bound(commit.added.begin(), commit.added.end(), SlotTime{slot, kNoTime});
      for (; it != commit.added.end() && it->slot == slot; ++it) times.push_back(it->t);
    }
    std::sort(times.begin(), times.end());
    return times;
  }

  // What is on disk now may leave memory once min_epoch() is beyond the value returned here.
  uint64_t next_epoch() {
    base::MutexLock lock(mutex_);
    return epoch_++;
  }
  uint64_t min_epoch() const {
    base::MutexLock lock(mutex_);
    uint64_t oldest = UINT64_MAX;
    for (const Reader& reader : active_) oldest = std::min(oldest, reader.epoch);
    return oldest;
  }

 private:
  struct Commit {
    uint64_t sequence;
    std::vector<SlotTime> added;
  };
  mutable base::Mutex mutex_;
  std::list<Reader> active_ VAGT_GUARDED_BY(mutex_);
  std::deque<Commit> recent_ VAGT_GUARDED_BY(mutex_);
  uint64_t epoch_ VAGT_GUARDED_BY(mutex_) = 1;
};

}  // namespace vagt::tsdb
