// A fixed number of threads around a bounded queue.
#pragma once

#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace vagt::base {

class WorkerPool {
 public:
  struct Options {
    std::string name;  // thread name, at most 15 bytes
    size_t threads = 1;
    size_t max_queue = 1024;  // tasks waiting, not running
    int nice = 0;             // added to the threads' nice value; > 0 is lower priority
  };
  explicit WorkerPool(Options options);
  ~WorkerPool();  // runs what is queued, then joins

  // False: the queue is full or the pool is stopping; the task was not taken.
  bool submit(std::function<void()> task) VAGT_EXCLUDES(mutex_);
  size_t threads() const { return threads_.size(); }

 private:
  void run(std::stop_token stop);

  const Options options_;
  Mutex mutex_;
  CondVar ready_;
  std::deque<std::function<void()>> tasks_ VAGT_GUARDED_BY(mutex_);
  bool stopping_ VAGT_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

// Names the calling thread for ps, top and gdb; cut at 15 bytes.
void set_thread_name(const std::string& name);

}  // namespace vagt::base
