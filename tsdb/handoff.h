// From one thread to the next, a bounded number of pieces at a time.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace vagt::tsdb {

// One sender, one receiver; order is kept.
template <class T>
class Handoff {
 public:
  explicit Handoff(size_t most) : most_(most) {}

  // Waits while `most` are under way.
  void post(T piece) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    changed_.wait(lock, [this]() VAGT_NO_THREAD_ANALYSIS { return pieces_.size() < most_; });
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
  }
  void close() {  // nothing comes any more
    base::MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Waits for the next; nullopt: closed, and all is taken.
  std::optional<T> take() VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    changed_.wait(lock, [this]() VAGT_NO_THREAD_ANALYSIS { return closed_ || !pieces_.empty(); });
    if (pieces_.empty()) return std::nullopt;
    std::optional<T> piece(std::move(pieces_.front()));
    pieces_.pop_front();
    changed_.notify_all();
    return piece;
  }

 private:
  const size_t most_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<T> pieces_ VAGT_GUARDED_BY(mutex_);
  bool closed_ VAGT_GUARDED_BY(mutex_) = false;
};

}  // namespace vagt::tsdb
