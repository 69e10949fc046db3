// Lifecycle and the timer; what the workers do is in scrape_work.cpp, what pages show in
// scrape_views.cpp.
#include "scrape/scrape_manager.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "scrape/scrape_manager_impl.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongWait = 1h;
// A jump of the wall clock beyond this moves the schedules, which are aligned to it.
constexpr Duration kClockJump = 1s;

Duration monotonic(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration_cast<Duration>(t.time_since_epoch());
}

}  // namespace

ScrapeManager::Impl::Impl(ScrapeManagerOptions options, tsdb::Store& store, Clock& clock,
                          base::Registry& registry, base::Logger log,
                          std::unique_ptr<Fetcher> fetcher)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      log_(std::move(log)),
      registry_(registry),
      metrics_(registry),
      planner_(options_.discovery ? options_.discovery
                                  : make_discovery_planner(registry, options_.user_agent)),
      bodies_(std::make_shared<net::BodyBudget>(options_.max_bodies_bytes)),
      fetcher_(fetcher ? std::move(fetcher) : make_http_fetcher(options_.user_agent)),
      workers_(std::make_unique<base::WorkerPool>(base::WorkerPool::Options{
          "scrape-parse", std::max<size_t>(options_.workers, 1), 1u << 20, 0})),
      large_pages_(std::make_unique<base::WorkerPool>(
          base::WorkerPool::Options{"scrape-large", 1, 1u << 20, 0})) {
  wall_offset_ = clock_.now().time_since_epoch() - monotonic(clock_.steady_now());
  const auto gauge = [&](std::string_view name, std::string_view help, std::string_view label,
                         size_t PoolSizes::*field) {
    gauges_.push_back(registry.callback(
        base::Registry::Kind::Gauge, name, help,
        [this, label, field](const std::function<void(const Labels&, double)>& emit) {
          for (const PoolSizes& pool : pool_sizes()) {
            LabelsBuilder labels;
            labels.set(label, pool.name);
            if (label == "config") labels.set("name", "scrape");
            emit(labels.build(), static_cast<double>(pool.*field));
          }
        }));
  };
  gauge("prometheus_target_scrape_pool_targets", "Targets of each scrape pool.", "scrape_job",
        &PoolSizes::active);
  gauge("prometheus_sd_discovered_targets", "Targets found, before relabelling.", "config",
        &PoolSizes::discovered);
  gauge("vagt_scrape_discovery_failing_sources",
        "Discovery sources that do not answer; their last targets are scraped.", "scrape_job",
        &PoolSizes::failing_sources);
}

ScrapeManager::Impl::~Impl() { stop(); }

void ScrapeManager::Impl::start() {
  auto watcher = std::make_unique<FileWatcher>([this] { folders_changed(); });
  {
    base::MutexLock lock(mutex_);
    watcher_ = std::move(watcher);
    watch_folders();
  }
  timer_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

void ScrapeManager::Impl::stop() {
  {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  timer_.request_stop();
  changed_.notify_all();
  if (timer_.joinable()) timer_.join();
  std::unique_ptr<FileWatcher> watcher;  // its thread is joined without the lock
  {
    base::MutexLock lock(mutex_);
    watcher = std::move(watcher_);
    for (auto& [name, pool] : pools_) retire_sources(pool);
  }
  watcher.reset();
  drop_retired();
  cut_short_.request_stop();
  fetcher_.reset();  // answers under way come back as cancelled
  workers_.reset();  // runs what is queued
  large_pages_.reset();
  gauges_.clear();
}

void ScrapeManager::Impl::run(std::stop_token stop) VAGT_NO_THREAD_ANALYSIS {
  base::set_thread_name("scrape-timer");
  while (!stop.stop_requested()) {
    const Steady wake = step();
    std::unique_lock<base::Mutex> lock(mutex_);
    changed_.wait_until(lock, stop, wake, [this]() VAGT_NO_THREAD_ANALYSIS { return is_woken_; });
    is_woken_ = false;
  }
}

Status ScrapeManager::Impl::apply(std::vector<ScrapeConfig> configs) {
  VAGT_CHECK_OK(set_jobs(std::move(configs)));
  drop_retired();
  return {};
}

Status ScrapeManager::Impl::set_jobs(std::vector<ScrapeConfig> configs) {
  std::vector<JobPtr> jobs;
  std::set<std::string> names;
  for (ScrapeConfig& config : configs) {
    auto job = compile_job(std::move(config));
    if (!job) {
      metrics_.pools_failed.add();
      return job.error();
    }
    names.insert((*job)->config.job_name);
    jobs.push_back(std::move(*job));
  }
  base::MutexLock lock(mutex_);
  if (is_stopping_) return Status(Code::Cancelled, "scraping has stopped");
  for (auto it = pools_.begin(); it != pools_.end();) {
    const bool stays = names.contains(it->first);
    if (!stays) {
      retire_sources(it->second);
      take_sync(it->second.clear());
    }
    it = stays ? std::next(it) : pools_.erase(it);
  }
  size_t unsupported = 0;
  for (JobPtr& job : jobs) {
    unsupported += job->config.discovery.unsupported.size();
    const std::string& name = job->config.job_name;
    const auto [it, is_new] = pools_.try_emplace(name, name, hash_seed_, metadata_table_);
    if (is_new) metrics_.pools.add();
    ScrapePool& pool = it->second;
    const bool is_same = !is_new && !job->config.fingerprint.empty() &&
                         pool.job()->config.fingerprint == job->config.fingerprint;
    if (is_same) continue;
    if (!is_new) metrics_.pool_reloads.add();
    pool.set_job(std::move(job));
    set_sources(pool);
    take_sync(pool.sync(ending_));
  }
  metrics_.failed_configs.set(static_cast<double>(unsupported));
  watch_folders();
  is_woken_ = true;
  changed_.notify_all();
  return {};
}

void ScrapeManager::Impl::take_sync(const SyncResult& result) {
  const Timestamp wall = clock_.now();
  for (const TargetPtr& target : result.vanished) {
    target->is_gone = true;
    // Long enough for the same series to go on elsewhere: its samples then are newer than the
    // marker, which is refused.
    target->end_at =
        clock_.steady_now() + 2 * target->identity.interval + target->identity.interval / 10;
    ending_.push_back(target);
  }
  for (const TargetPtr& target : result.appeared) schedule(target, wall);
}

// Scrapes come at offset + n * interval of wall time; the offset is the target's own and survives
// restarts.
void ScrapeManager::Impl::schedule(const TargetPtr& target, Timestamp after) {
  const int64_t interval = std::max<int64_t>(target->identity.interval.count(), 1);
  const auto offset = static_cast<int64_t>((target->identity.hash ^ options_.offset_seed) %
                                           static_cast<uint64_t>(interval));
  const int64_t since = (to_millis(after) - offset) % interval;
  target->due = from_millis(to_millis(after) - since + (since < 0 ? 0 : interval));
  queue_.push({target->due, target});
}

void ScrapeManager::Impl::follow_wall_clock(Timestamp wall, Steady steady) {
  const Duration offset = wall.time_since_epoch() - monotonic(steady);
  if (std::chrono::abs(offset - wall_offset_) <= kClockJump) return;
  log_.warn("wall clock jumped, scrape schedules follow it",
            {{"by", format_go_duration(offset - wall_offset_)}});
  wall_offset_ = offset;
  queue_ = {};
  for (const auto& [name, pool] : pools_) {
    for (const auto& [hash, target] : pool.targets()) schedule(target, wall);
  }
}

ScrapeManager::Impl::Steady ScrapeManager::Impl::step() {
  const Timestamp wall = clock_.now();
  const Steady steady = clock_.steady_now();
  std::vector<Scrape> due;
  std::vector<Question> questions;
  Steady wake;
  {
    base::MutexLock lock(mutex_);
    if (is_stopping_) return steady + kLongWait;
    follow_wall_clock(wall, steady);
    due = take_due(wall, steady);
    start_polls(steady);
    take_source_news(steady);
    questions = take_questions(steady);
    start_endings(steady);
    wake = next_wake(wall, steady);
  }
  for (Scrape& scrape : due) send(std::move(scrape));
  for (Question& question : questions) ask(std::move(question));
  return wake;
}

std::vector<ScrapeManager::Impl::Scrape> ScrapeManager::Impl::take_due(Timestamp wall,
                                                                       Steady steady) {
  std::vector<Scrape> due;
  while (!queue_.empty() && queue_.top().at <= wall) {
    const Due next = queue_.top();
    queue_.pop();
    const TargetPtr& target = next.target;
    if (target->is_gone || target->due != next.at) continue;
    schedule(target, wall);
    if (target->is_busy) {
      metrics_.skipped.add();
      continue;
    }
    target->is_busy = true;
    ++under_way_;
    const bool in_time = wall - next.at <= options_.timestamp_tolerance;
    due.push_back({target, target->job, target->forced_error, in_time ? next.at : wall, steady});
  }
  return due;
}

void ScrapeManager::Impl::start_endings(Steady steady) {
  for (auto it = ending_.begin(); it != ending_.end();) {
    if ((*it)->is_busy || (*it)->end_at > steady) {
      ++it;
      continue;
    }
    const TargetPtr target = *it;
    it = ending_.erase(it);
    if (is_continued(*target)) continue;
    ++under_way_;
    if (!hand_over([this, target] { end_target(target); })) --under_way_;
  }
}

// Another target of the job writes the same series, at another interval or from another address.
bool ScrapeManager::Impl::is_continued(const ActiveTarget& gone) const {
  const auto pool = pools_.find(gone.pool);
  if (pool == pools_.end()) return false;
  for (const auto& [hash, target] : pool->second.targets()) {
    if (target->identity.labels == gone.identity.labels) return true;
  }
  return false;
}

ScrapeManager::Impl::Steady ScrapeManager::Impl::next_wake(Timestamp wall, Steady steady) const {
  Steady wake = steady + kLongWait;
  if (!queue_.empty())
    wake = std::min(wake, steady + std::max(queue_.top().at - wall, Duration(0)));
  for (const auto& [name, pool] : pools_) {
    for (const auto& http : pool.http_sources)
      wake = std::min(wake, std::max(http->ask_at, steady));
    if (pool.files != nullptr) wake = std::min(wake, std::max(pool.poll_at, steady));
    if (pool.has_news()) wake = std::min(wake, std::max(pool.sync_at, steady));
  }
  for (const TargetPtr& target : ending_)
    wake = std::min(wake, std::max(target->end_at, steady + 1s));
  // A jump of the wall clock is to be noticed in time.
  return std::min<Steady>(wake, steady + 1s);
}

void ScrapeManager::Impl::wait_idle() VAGT_NO_THREAD_ANALYSIS {
  std::unique_lock<base::Mutex> lock(mutex_);
  changed_.wait(lock, [this]() VAGT_NO_THREAD_ANALYSIS { return under_way_ == 0; });
}

ScrapeManager::ScrapeManager(ScrapeManagerOptions options, tsdb::Store& store, Clock& clock,
                             base::Registry& registry, base::Logger log,
                             std::unique_ptr<Fetcher> fetcher)
    : impl_(std::make_unique<Impl>(std::move(options), store, clock, registry, std::move(log),
                                   std::move(fetcher))) {}
ScrapeManager::~ScrapeManager() = default;
Status ScrapeManager::apply(std::vector<ScrapeConfig> jobs) {
  return impl_->apply(std::move(jobs));
}
void ScrapeManager::start() { impl_->start(); }
void ScrapeManager::stop() { impl_->stop(); }
std::chrono::steady_clock::time_point ScrapeManager::step() { return impl_->step(); }
void ScrapeManager::wait_idle() { impl_->wait_idle(); }
std::vector<TargetView> ScrapeManager::active_targets(std::string_view pool) const {
  return impl_->active_targets(pool);
}
std::vector<DroppedTargetView> ScrapeManager::dropped_targets(std::string_view pool) const {
  return impl_->dropped_targets(pool);
}
std::vector<PoolView> ScrapeManager::pools() const { return impl_->pools(); }
Result<std::vector<std::pair<RelabelConfig, std::optional<Labels>>>> ScrapeManager::relabel_steps(
    std::string_view pool, const Labels& discovered) const {
  const JobPtr job = impl_->job_of(pool);
  if (job == nullptr) return Status::not_found(fmt::format("no scrape pool {}", quote(pool)));
  return job->relabel.steps(discovered);
}
std::vector<TargetMetadata> ScrapeManager::metadata(
    const std::function<bool(const Labels&)>& wanted) const {
  return impl_->metadata(wanted);
}

}  // namespace vagt::scrape
