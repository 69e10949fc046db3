// What is behind NotifyManager: the thread that owns the dispatcher, its mailbox, its clock and the
// durable writer. The manager_*.cpp files tell one story each; manager_loop.cpp is the thread.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mailbox.h"
#include "base/mutex.h"
#include "notify/dispatcher.h"
#include "notify/durable_writer.h"
#include "notify/manager.h"

namespace vagt::notify {

struct NotifyManager::Impl {
  using Task = std::function<void()>;
  explicit Impl(Options o);

  // Runs `f` on the owner of the state and waits for its answer. Without a running thread the
  // caller is the owner.
  template <class F>
  auto call(F f) -> decltype(f()) {
    using R = decltype(f());
    auto promise = std::make_shared<std::promise<R>>();
    auto answer = promise->get_future();
    Task task = [promise, &f] {
      if constexpr (std::is_void_v<R>) {
        f();
        promise->set_value();
      } else {
        promise->set_value(f());
      }
    };
    bool inline_turn = false;
    {
      base::MutexLock lock(lifecycle);
      inline_turn = !running;
      inbox->post(std::move(task));
    }
    if (inline_turn) turn(turn_time.value_or(options.clock->now()));
    return answer.get();
  }

  // Everything that is due at `now`, written in one batch; the next instant something is due.
  std::optional<Timestamp> turn(Timestamp now);
  void run(std::stop_token stop);  // the thread
  void drain();                    // the messages that have arrived, those they cause included
  void commit();
  Timestamp read_clock();  // the wall clock, with its jumps passed on to the due times
  Timestamp now() const { return turn_time.value_or(options.clock->now()); }

  // What everybody may read without asking the thread.
  std::shared_ptr<const CompiledConfig> config() {
    base::MutexLock lock(facts_mutex);
    return current;
  }

  const Options options;
  NotifyMetrics metrics;
  // Shared with the answers under way: one may come after the end.
  const std::shared_ptr<base::Mailbox<Task>> inbox = std::make_shared<base::Mailbox<Task>>();
  size_t unwritten_deliveries = 0;  // the writing thread's
  DurableWriter writer;
  Dispatcher dispatcher;                       // owned by the loop
  std::vector<DurableWriter::Done> on_commit;  // owned by the loop: answers that wait for the disk
  std::optional<Timestamp> turn_time;          // owned by the loop
  std::optional<Timestamp> last_wall;
  std::chrono::steady_clock::time_point last_steady;
  const Timestamp started_at;

  base::Mutex lifecycle;
  bool running VAGT_GUARDED_BY(lifecycle) = false;
  base::Mutex turn_mutex;  // callers take turns as owner while no thread runs
  std::atomic<bool> opened{false}, configured{false};
  std::atomic<Duration> drain_for{Duration(0)};
  base::Mutex facts_mutex;
  std::shared_ptr<const CompiledConfig> current VAGT_GUARDED_BY(facts_mutex);
  std::string nobody VAGT_GUARDED_BY(facts_mutex) = "no configuration is loaded";
  std::jthread thread;
};

}  // namespace vagt::notify
