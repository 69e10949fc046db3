// A mutex whose use clang's thread-safety analysis can follow (it cannot see through libstdc++'s
// std::mutex).
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define VAGT_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define VAGT_THREAD_ATTRIBUTE(x)
#endif
#define VAGT_CAPABILITY(x) VAGT_THREAD_ATTRIBUTE(capability(x))
#define VAGT_SCOPED_CAPABILITY VAGT_THREAD_ATTRIBUTE(scoped_lockable)
#define VAGT_GUARDED_BY(x) VAGT_THREAD_ATTRIBUTE(guarded_by(x))
#define VAGT_REQUIRES(...) VAGT_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define VAGT_ACQUIRE(...) VAGT_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define VAGT_RELEASE(...) VAGT_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define VAGT_EXCLUDES(...) VAGT_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define VAGT_NO_THREAD_ANALYSIS VAGT_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace vagt::base {

class VAGT_CAPABILITY("mutex") Mutex {
 public:
  void lock() VAGT_ACQUIRE() { mutex_.lock(); }
  void unlock() VAGT_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class VAGT_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) VAGT_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() VAGT_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits on a base::Mutex; std::condition_variable_any so that the analysis sees the lock as held
// throughout.
using CondVar = std::condition_variable_any;

}  // namespace vagt::base
