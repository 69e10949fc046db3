#include "base/worker_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vagt::base {

void set_thread_name(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

WorkerPool::WorkerPool(Options options) : options_(std::move(options)) {
  threads_.reserve(options_.threads);
  for (size_t i = 0; i < options_.threads; ++i)
    threads_.emplace_back([this](std::stop_token stop) { run(std::move(stop)); });
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

bool WorkerPool::submit(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (stopping_ || tasks_.size() >= options_.max_queue) return false;
    tasks_.push_back(std::move(task));
  }
  ready_.notify_one();
  return true;
}

void WorkerPool::run(std::stop_token stop) VAGT_NO_THREAD_ANALYSIS {
  set_thread_name(options_.name);
  // On Linux a nice value belongs to the thread; without the right to set it the pool still works.
  if (options_.nice != 0) {
    const auto tid = static_cast<id_t>(::syscall(SYS_gettid));
    ::setpriority(PRIO_PROCESS, tid, options_.nice);
  }
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock<Mutex> lock(mutex_);
      if (!ready_.wait(lock, stop, [this]() VAGT_NO_THREAD_ANALYSIS { return !tasks_.empty(); }))
        return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace vagt::base
