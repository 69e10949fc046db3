// Holds up a sender whose receiver does not keep pace.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace vagt::scrape {

// Any thread. What enters must leave.
class ByteGate {
 public:
  explicit ByteGate(uint64_t limit) : limit_(limit) {}

  // Waits until there is room; a piece larger than the limit goes alone. False: closed.
  bool enter(uint64_t bytes) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    left_.wait(lock, [this, bytes]() VAGT_NO_THREAD_ANALYSIS {
      return is_closed_ || inside_ == 0 || inside_ + bytes <= limit_;
    });
    if (is_closed_) return false;
    inside_ += bytes;
    return true;
  }
  void leave(uint64_t bytes) VAGT_EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      inside_ -= bytes;
    }
    left_.notify_all();
  }
  // Nobody waits any more.
  void close() VAGT_EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      is_closed_ = true;
    }
    left_.notify_all();
  }

 private:
  const uint64_t limit_;
  base::Mutex mutex_;
  base::CondVar left_;
  uint64_t inside_ VAGT_GUARDED_BY(mutex_) = 0;
  bool is_closed_ VAGT_GUARDED_BY(mutex_) = false;
};

}  // namespace vagt::scrape
