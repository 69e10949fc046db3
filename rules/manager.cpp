#include "rules/manager.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "rules/group.h"
#include "rules/metrics.h"
#include "rules/reload_plan.h"
#include "rules/scheduler.h"

namespace vagt::rules {
namespace {

// How late a jump of the wall clock or a group that became free is noticed.
constexpr Duration kMaxSleep = std::chrono::seconds(1);

bool group_order(const ScheduledGroupPtr& a, const ScheduledGroupPtr& b) {
  const RuleGroup &x = a->group->definition(), &y = b->group->definition();
  return std::tie(x.file, x.name) < std::tie(y.file, y.name);
}

}  // namespace

struct RuleManager::Impl {
  explicit Impl(Options given) : options(std::move(given)) {
    auto env = std::make_shared<GroupEnvironment>();
    env->store = options.store;
    env->kv = options.restore ? options.kv : nullptr;
    env->sink = options.sink;
    env->clock = options.clock;
    env->log = options.log;
    env->external_url = options.external_url;
    env->eval = options.eval;
    env->parse = options.parse;
    env->resend_delay = options.resend_delay;
    env->outage_tolerance = options.for_outage_tolerance;
    env->grace_period = options.for_grace_period;
    env->max_template_bytes = options.max_template_bytes;
    environment = std::move(env);
    shown = show_groups(options.registry, [this] {
      std::vector<CountedGroup> counted;
      for (const ScheduledGroupPtr& one : groups()) counted.push_back({one->group, one->totals});
      return counted;
    });
  }

  const Options options;
  std::shared_ptr<const GroupEnvironment> environment;

  base::Mutex apply_mutex;  // one reload at a time
  bool applied_once VAGT_GUARDED_BY(apply_mutex) = false;

  mutable base::Mutex mutex;
  base::CondVar finished;  // a worker ended
  Scheduler scheduler VAGT_GUARDED_BY(mutex);

  std::unique_ptr<base::WorkerPool> pool;
  std::jthread thread;
  std::vector<std::shared_ptr<void>> shown;  // last: its readers use what is above

  std::vector<ScheduledGroupPtr> groups() const {
    base::MutexLock lock(mutex);
    return scheduler.groups();
  }

  // -- reload
  // ----------------------------------------------------------------------------------------------------
  // Takes groups out of the schedule and cuts their evaluations short: a reload must wait neither
  // for a slow query nor for a worker. The other groups run on.
  void withdraw(const std::vector<ScheduledGroupPtr>& leaving) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex);
    for (const ScheduledGroupPtr& group : leaving) {
      group->withdrawn = true;
      group->cut_short = group->running;
      group->stop.request_stop();
    }
    for (const ScheduledGroupPtr& group : leaving) {
      while (group->evaluating) finished.wait(lock);
    }
  }

  // `old`: the withdrawn group of the same name, or null.
  ScheduledGroupPtr make_group(RuleGroup rules, const GroupSettings& settings, Timestamp now,
                               bool first, const ScheduledGroupPtr& old) {
    auto group = std::make_shared<Group>(environment, std::move(rules), settings);
    if (old) {
      group->take_state_from(*old->group);
    } else if (first && options.restore) {
      group->restore(now);
    }
    Timestamp next = group->slot_at_or_before(now);
    // An evaluation that the reload cut short is made up for at once, but never at a time before
    // it: a longer interval may have its last slot there, and what has begun since would seem to
    // have ended.
    if (!old || !old->cut_short || next < old->slot) next += settings.interval;
    return std::make_shared<ScheduledGroup>(
        std::move(group), old ? old->totals : std::make_shared<GroupTotals>(), next);
  }

  Status apply(std::vector<RuleFile> files, const GlobalRuleSettings& settings) {
    base::MutexLock lock(apply_mutex);
    VAGT_TRY(ReloadPlan plan, plan_reload(groups(), std::move(files), settings));
    withdraw(plan.leaving);
    const Timestamp now = options.clock->now();
    std::vector<ScheduledGroupPtr> made;
    for (ReloadPlan::Entry& entry : plan.entries) {
      made.push_back(entry.runs_on ? entry.old
                                   : make_group(std::move(entry.rules), entry.settings, now,
                                                !applied_once, entry.old));
    }
    for (const ScheduledGroupPtr& gone : plan.gone) retire(*gone, now);
    std::sort(made.begin(), made.end(), group_order);
    applied_once = true;
    base::MutexLock guard(mutex);
    scheduler.set_groups(std::move(made));
    return {};
  }

  void retire(ScheduledGroup& gone, Timestamp now) const {
    const Status status = gone.group->end_series(now);
    if (!status.ok())
      options.log.warn("Series of removed rules could not be ended", {{"err", status.message()}});
    gone.group->forget();
  }

  // -- evaluation
  // ------------------------------------------------------------------------------------------------
  void evaluate(ScheduledGroup& group, Timestamp slot, std::stop_token stop) const {
    const auto begin = options.clock->steady_now();
    const GroupCounts counts = group.group->evaluate(slot, stop);
    const double seconds =
        std::chrono::duration<double>(options.clock->steady_now() - begin).count();
    if (!stop.stop_requested()) group.totals->evaluated(counts, slot, seconds);
  }

  std::optional<Timestamp> step(Timestamp now) {
    while (true) {
      std::optional<Scheduler::Due> due;
      {
        base::MutexLock lock(mutex);
        due = scheduler.take_due(now);
        if (!due) return scheduler.next_due();
      }
      evaluate(*due->group, due->slot, {});
    }
  }

  // On a worker: false when a reload took the group away while it waited for one.
  bool begin(ScheduledGroup& group) {
    base::MutexLock lock(mutex);
    group.evaluating = !group.withdrawn;
    return group.evaluating;
  }

  void finish(ScheduledGroup& group) {
    {
      base::MutexLock lock(mutex);
      group.evaluating = false;
      group.running.store(false, std::memory_order_release);
    }
    finished.notify_all();
  }

  // Hands everything due to the workers.
  void dispatch(Timestamp now) {
    while (true) {
      std::optional<Scheduler::Due> due;
      std::stop_token stop;
      {
        base::MutexLock lock(mutex);
        due = scheduler.take_due(now);
        if (!due) return;
        due->group->running.store(true, std::memory_order_release);
        due->group->stop = std::stop_source();
        stop = due->group->stop.get_token();
      }
      const ScheduledGroupPtr group = due->group;
      const Timestamp slot = due->slot;
      const bool taken = pool->submit([this, group, slot, stop] {
        if (begin(*group)) evaluate(*group, slot, stop);
        finish(*group);
      });
      if (taken) continue;
      group->totals->count_missed(1);
      finish(*group);
    }
  }

  // The program ends: what runs or waits for a worker is cut short.
  void cancel_all() {
    base::MutexLock lock(mutex);
    for (const ScheduledGroupPtr& group : scheduler.groups()) group->stop.request_stop();
  }

  Timestamp wake_at(Timestamp now) const {
    base::MutexLock lock(mutex);
    const std::optional<Timestamp> next = scheduler.next_due();
    const Timestamp soon = now + kMaxSleep;
    return next && *next<soon&& * next> now ? *next : soon;
  }

  void run(std::stop_token stop) {
    base::set_thread_name("rules");
    Timestamp wall = options.clock->now();
    auto steady = options.clock->steady_now();
    while (!stop.stop_requested()) {
      const Timestamp now = options.clock->now();
      const auto ticks = options.clock->steady_now();
      const auto jump = (now - wall) - std::chrono::duration_cast<Duration>(ticks - steady);
      if (jump > Duration(1000) || jump < Duration(-1000)) {
        base::MutexLock lock(mutex);
        scheduler.reanchor(now);
      }
      wall = now, steady = ticks;
      dispatch(now);
      if (!options.clock->sleep_until(wake_at(now), stop)) return;
    }
  }
};

RuleManager::RuleManager(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
RuleManager::~RuleManager() { stop(); }

Status RuleManager::apply(std::vector<RuleFile> files, const GlobalRuleSettings& settings) {
  return impl_->apply(std::move(files), settings);
}

void RuleManager::start() {
  if (impl_->thread.joinable()) return;
  impl_->pool = std::make_unique<base::WorkerPool>(base::WorkerPool::Options{
      "rules-worker", std::max<size_t>(1, impl_->options.workers), 65536, 0});
  impl_->thread = std::jthread([impl = impl_.get()](std::stop_token stop) { impl->run(stop); });
}

void RuleManager::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->thread.request_stop();
  impl_->thread.join();
  impl_->cancel_all();
  impl_->pool.reset();  // waits for what runs; queued evaluations see the stop
}

std::optional<Timestamp> RuleManager::step(Timestamp now) { return impl_->step(now); }

std::vector<GroupView> RuleManager::view() const {
  const std::vector<ScheduledGroupPtr> groups = impl_->groups();
  std::vector<GroupView> views;
  views.reserve(groups.size());
  for (const ScheduledGroupPtr& group : groups) views.push_back(group->group->view());
  return views;
}

size_t RuleManager::active_alerts() const {
  const std::vector<ScheduledGroupPtr> groups = impl_->groups();
  size_t active = 0;
  for (const ScheduledGroupPtr& group : groups) active += group->group->active_alerts();
  return active;
}

}  // namespace vagt::rules
