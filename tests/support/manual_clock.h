// A clock that stands still until the test moves it.
#pragma once

#include "base/mutex.h"
#include "base/time.h"

namespace vagt::test {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = from_millis(1'700'000'000'000)) : now_(start) {}

  Timestamp now() const override {
    base::MutexLock lock(mutex_);
    return now_;
  }
  std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point(now().time_since_epoch());
  }
  // Waits until advance() passes `until`.
  bool sleep_until(Timestamp until, std::stop_token stop) override VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    return moved_.wait(lock, stop, [&]() VAGT_NO_THREAD_ANALYSIS { return now_ >= until; });
  }

  void advance(Duration by) { set(now() + by); }
  void set(Timestamp to) {
    {
      base::MutexLock lock(mutex_);
      now_ = to;
    }
    moved_.notify_all();
  }

 private:
  mutable base::Mutex mutex_;
  base::CondVar moved_;
  Timestamp now_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::test
