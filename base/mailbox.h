// Messages for an object that one thread owns.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/mutex.h"

namespace vagt::base {

// Unbounded, many senders, one receiver; order is kept.
template <class T>
class Mailbox {
 public:
  void post(T message) VAGT_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      messages_.push_back(std::move(message));
    }
    arrived_.notify_one();
  }

  // All that has arrived, without waiting.
  std::deque<T> take() VAGT_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::exchange(messages_, {});
  }

  // Waits for a message, the deadline or a stop; then all that has arrived (empty: deadline or
  // stop).
  std::deque<T> wait_until(std::chrono::steady_clock::time_point deadline,
                           std::stop_token stop) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<Mutex> lock(mutex_);
    arrived_.wait_until(lock, stop, deadline,
                        [this]() VAGT_NO_THREAD_ANALYSIS { return !messages_.empty(); });
    return std::exchange(messages_, {});
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::deque<T> messages_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::base
