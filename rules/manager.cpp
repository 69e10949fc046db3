#include "rules/manager.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "rules/group.h"
#include "rules/metrics.h"
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
  }

  const Options options;
  std::shared_ptr<const GroupEnvironment> environment;

  base::Mutex apply_mutex;  // one reload at a time
  bool applied_once VAGT_GUARDED_BY(apply_mutex) = false;

  mutable base::Mutex mutex;
  base::CondVar idle;  // a worker ended
  Scheduler scheduler VAGT_GUARDED_BY(mutex);
  bool held VAGT_GUARDED_BY(mutex) = false;  // a reload is at work: nothing new begins
  size_t running VAGT_GUARDED_BY(mutex) = 0;

  std::unique_ptr<base::WorkerPool> pool;
  std::jthread thread;

  // -- reload
  // ----------------------------------------------------------------------------------------------------
  void hold() VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex);
    held = true;
    while (running != 0) idle.wait(lock);
  }

  ScheduledGroupPtr make_group(RuleGroup rules, const GroupSettings& settings, Timestamp now,
                               bool first, std::vector<ScheduledGroupPtr>& old) {
    const auto found = std::find_if(old.begin(), old.end(), [&](const ScheduledGroupPtr& other) {
      return other && other->group->definition().file == rules.file &&
             other->group->definition().name == rules.name;
    });
    if (found != old.end() && (*found)->group->same_as(rules, settings))
      return std::exchange(*found, nullptr);
    auto group = std::make_shared<Group>(environment, std::move(rules), settings);
    if (found != old.end()) {
      group->take_state_from(*(*found)->group);
      found->reset();
    } else if (first && options.restore) {
      group->restore(now);
    }
    const Timestamp next = group->slot_at_or_before(now) + settings.interval;
    const GroupMetrics metrics = GroupMetrics::make(options.registry, *group);
    return std::make_shared<ScheduledGroup>(std::move(group), metrics, next);
  }

  Status apply(std::vector<RuleFile> files, const GlobalRuleSettings& settings) {
    std::set<std::pair<std::string, std::string>> names;
    for (const RuleFile& file : files) {
      for (const RuleGroup& group : file.groups) {
        if (names.emplace(group.file, group.name).second) continue;
        return Status::invalid(
            fmt::format("{}: groupname: {} is repeated", group.file, quote(group.name)));
      }
    }
    base::MutexLock lock(apply_mutex);
    hold();
    const Timestamp now = options.clock->now();
    std::vector<ScheduledGroupPtr> old;
    {
      base::MutexLock guard(mutex);
      old = scheduler.groups();
    }
    std::vector<ScheduledGroupPtr> groups;
    for (RuleFile& file : files) {
      for (RuleGroup& group : file.groups) {
        const GroupSettings own{group.interval.value_or(settings.evaluation_interval),
                                group.query_offset.value_or(settings.query_offset),
                                settings.external_labels, settings.evaluation_interval};
        groups.push_back(make_group(std::move(group), own, now, !applied_once, old));
      }
    }
    for (const ScheduledGroupPtr& gone : old) {
      if (gone) retire(*gone, now);
    }
    std::sort(groups.begin(), groups.end(), group_order);
    applied_once = true;
    base::MutexLock guard(mutex);
    scheduler.set_groups(std::move(groups));
    held = false;
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
    group.metrics.evaluated(counts, slot, seconds);
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

  void finish(ScheduledGroup& group) {
    {
      base::MutexLock lock(mutex);
      group.running.store(false, std::memory_order_release);
      --running;
    }
    idle.notify_all();
  }

  // Hands everything due to the workers.
  void dispatch(Timestamp now, std::stop_token stop) {
    while (true) {
      std::optional<Scheduler::Due> due;
      {
        base::MutexLock lock(mutex);
        if (held) return;
        due = scheduler.take_due(now);
        if (!due) return;
        due->group->running.store(true, std::memory_order_release);
        ++running;
      }
      const ScheduledGroupPtr group = due->group;
      const Timestamp slot = due->slot;
      const bool taken = pool->submit([this, group, slot, stop] {
        evaluate(*group, slot, stop);
        finish(*group);
      });
      if (taken) continue;
      group->metrics.count_missed(1);
      finish(*group);
    }
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
      dispatch(now, stop);
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
  impl_->pool.reset();  // waits for what runs; queued evaluations see the stop
}

std::optional<Timestamp> RuleManager::step(Timestamp now) { return impl_->step(now); }

std::vector<GroupView> RuleManager::view() const {
  std::vector<ScheduledGroupPtr> groups;
  {
    base::MutexLock lock(impl_->mutex);
    groups = impl_->scheduler.groups();
  }
  std::vector<GroupView> views;
  views.reserve(groups.size());
  for (const ScheduledGroupPtr& group : groups) views.push_back(group->group->view());
  return views;
}

size_t RuleManager::active_alerts() const {
  std::vector<ScheduledGroupPtr> groups;
  {
    base::MutexLock lock(impl_->mutex);
    groups = impl_->scheduler.groups();
  }
  size_t active = 0;
  for (const ScheduledGroupPtr& group : groups) active += group->group->active_alerts();
  return active;
}

}  // namespace vagt::rules
