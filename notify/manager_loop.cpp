// The notify thread: turns, the mailbox and the clock.
#include <random>

#include "base/worker_pool.h"
#include "notify/manager_impl.h"

namespace vagt::notify {
namespace {

constexpr Duration kClockJump = std::chrono::seconds(1);
constexpr auto kIdle = std::chrono::hours(1);

uint64_t seed_of(uint64_t wanted) {
  if (wanted != 0) return wanted;
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

Dispatcher::Options dispatcher_options(const NotifyManager::Options& o) {
  Dispatcher::Options d;
  d.external_url = o.external_url;
  d.data_retention = o.data_retention;
  d.alert_gc_interval = o.alert_gc_interval;
  d.start_delay = o.start_delay;
  d.max_backoff = o.max_backoff;
  d.per_alertname_limit = o.per_alertname_limit;
  d.recent_deliveries = o.recent_deliveries;
  d.silence_limits = o.silence_limits;
  d.seed = seed_of(o.seed);
  return d;
}

}  // namespace

NotifyManager::Impl::Impl(Options o)
    : options(std::move(o)),
      metrics(options.registry),
      writer(options.kv, metrics, options.log),
      dispatcher(
          dispatcher_options(options), *options.transport,
          [mail = inbox](Task task) { mail->post(std::move(task)); }, metrics, options.log),
      started_at(options.clock->now()) {
  metrics.nobody_paged.set(1);
}

void NotifyManager::Impl::drain() {
  constexpr int kMaxRounds = 10'000;  // a transport that answers at once must not hold the loop
  for (int round = 0; round < kMaxRounds; ++round) {
    auto tasks = inbox->take();
    if (tasks.empty()) return;
    for (Task& task : tasks) task();
  }
}

void NotifyManager::Impl::commit() {
  KvBatch batch = dispatcher.take_batch();
  const size_t deliveries = dispatcher.take_recorded();
  if (deliveries > 0) {
    // What could not be written is kept by the writer and goes with the next batch.
    on_commit.push_back([this, deliveries](const Status& status) {
      unwritten_deliveries += deliveries;
      if (status.ok())
        metrics.recorded.add(static_cast<double>(std::exchange(unwritten_deliveries, 0)));
    });
  }
  writer.write(std::move(batch), std::exchange(on_commit, {}));
}

std::optional<Timestamp> NotifyManager::Impl::turn(Timestamp now) {
  base::MutexLock lock(turn_mutex);
  turn_time = now;
  drain();
  dispatcher.step(now);
  drain();
  commit();
  turn_time.reset();
  return dispatcher.next_due();
}

Timestamp NotifyManager::Impl::read_clock() {
  const Timestamp wall = options.clock->now();
  const auto steady = options.clock->steady_now();
  if (last_wall) {
    const Timestamp expected =
        *last_wall + std::chrono::duration_cast<Duration>(steady - last_steady);
    const Duration jump = wall - expected;
    if (jump > kClockJump || jump < -kClockJump) {
      options.log.warn("the wall clock jumped", {{"seconds", to_seconds(jump)}});
      dispatcher.shift(jump);
    }
  }
  last_wall = wall;
  last_steady = steady;
  return wall;
}

void NotifyManager::Impl::run(std::stop_token stop) {
  base::set_thread_name("notify");
  while (!stop.stop_requested()) {
    const Timestamp now = read_clock();
    const auto due = turn(now);
    const auto wait = due ? std::chrono::steady_clock::duration(std::max(*due - now, Duration(0)))
                          : std::chrono::steady_clock::duration(kIdle);
    auto tasks = inbox->wait_until(std::chrono::steady_clock::now() + wait, stop);
    if (tasks.empty()) continue;
    turn_time = read_clock();
    for (Task& task : tasks) task();
    turn_time.reset();
  }
  // What is on its way to a provider gets a moment to be answered, so that it is on record.
  const auto until = std::chrono::steady_clock::now() + drain_for.load();
  while (dispatcher.transfers_under_way() > 0 && std::chrono::steady_clock::now() < until) {
    dispatcher.step_deliveries(read_clock());
    auto tasks = inbox->wait_until(
        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(50)), {});
    for (Task& task : tasks) task();
    commit();
  }
  // Whoever asks from here on is the owner; what was asked before is answered.
  base::MutexLock lock(lifecycle);
  drain();
  commit();
  running = false;
}

}  // namespace vagt::notify
