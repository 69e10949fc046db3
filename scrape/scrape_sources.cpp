// How the manager's pools hear from files, URLs and sources that run by themselves.
#include <algorithm>
#include <filesystem>

#include "scrape/scrape_manager_impl.h"

namespace vagt::scrape {

void ScrapeManager::Impl::start_polls(Steady steady) {
  const bool is_time = std::any_of(pools_.begin(), pools_.end(), [steady](const auto& item) {
    return item.second.files != nullptr && item.second.poll_at <= steady;
  });
  const bool is_watched = watcher_ != nullptr && watcher_->has_all();
  if (is_time && !is_watched) watch_folders();
  for (auto& [name, pool] : pools_) {
    if (pool.files == nullptr || pool.is_polling || pool.poll_at > steady) continue;
    pool.is_polling = true;
    pool.poll_at = steady + (is_watched ? options_.watched_poll : options_.discovery_poll);
    ++under_way_;
    if (!hand_over([this, pool_name = name, files = pool.files] { poll_files(pool_name, files); }))
      --under_way_;
  }
}

std::vector<ScrapeManager::Impl::Question> ScrapeManager::Impl::take_questions(Steady steady) {
  std::vector<Question> questions;
  for (auto& [name, pool] : pools_) {
    for (const auto& http : pool.http_sources) {
      if (http->is_asking || http->ask_at > steady) continue;
      http->is_asking = true;
      http->ask_at = steady + http->source->refresh_interval();
      ++under_way_;
      questions.push_back({name, http});
    }
  }
  return questions;
}

void ScrapeManager::Impl::poll_files(const std::string& pool_name,
                                     const std::shared_ptr<FileDiscovery>& files) {
  const bool is_changed = files->poll();
  {
    base::MutexLock lock(mutex_);
    const auto it = pools_.find(pool_name);
    // Meanwhile the job may be gone or have other files.
    if (it != pools_.end() && it->second.files == files) {
      ScrapePool& pool = it->second;
      pool.is_polling = false;
      if (is_changed) {
        metrics_.updates.add();
        for (const std::string& error : files->errors()) {
          metrics_.file_errors.add();
          log_.warn("target file not read", {{"scrape_pool", pool_name}, {"err", error}});
        }
        pool.file_groups = files->groups();
        pool.file_errors = files->errors();
        take_sync(pool.sync(ending_));
        is_woken_ = true;
        changed_.notify_all();
      }
    }
  }
  work_done();
}

void ScrapeManager::Impl::ask(Question question) {
  const HttpDiscovery& source = *question.http->source;
  fetcher_->send(source.request(), source.profile(),
                 [this, question](Result<net::HttpResponse> answer) {
                   auto kept = std::make_shared<Result<net::HttpResponse>>(std::move(answer));
                   if (!hand_over([this, question, kept] { take_answer(question, *kept); }))
                     work_done();
                 });
}

void ScrapeManager::Impl::take_answer(const Question& question,
                                      const Result<net::HttpResponse>& answer) {
  ScrapePool::HttpSource& http = *question.http;
  const bool is_changed = http.source->take(answer);
  if (!http.source->error().empty()) metrics_.http_failures.add();
  {
    base::MutexLock lock(mutex_);
    http.is_asking = false;
    const auto it = pools_.find(question.pool);
    const bool is_ours = it != pools_.end() &&
                         std::find(it->second.http_sources.begin(), it->second.http_sources.end(),
                                   question.http) != it->second.http_sources.end();
    if (is_changed && is_ours && !is_stopping_) {
      if (!http.source->error().empty() && http.source->error() != http.error) {
        log_.warn("targets not refreshed",
                  {{"scrape_pool", question.pool}, {"err", http.source->error()}});
      }
      metrics_.updates.add();
      http.groups = http.source->groups();
      http.error = http.source->error();
      take_sync(it->second.sync(ending_));
      is_woken_ = true;
      changed_.notify_all();
    }
  }
  work_done();
}

// The runners of the pool's job: those that run already go on.
void ScrapeManager::Impl::set_sources(ScrapePool& pool) {
  std::vector<ScrapePool::RunningSource> running;
  for (const PlannedSource& planned : planner_(pool.job()->config.discovery)) {
    std::weak_ptr<DiscoveryRunner>& known = runners_[planned.fingerprint];
    std::shared_ptr<DiscoveryRunner> runner = known.lock();
    if (runner == nullptr) {
      runner = std::make_shared<DiscoveryRunner>(
          planned.make(), [this] { wake(); }, registry_, log_.with_component("discovery"));
      known = runner;
    }
    running.push_back({std::move(runner), {}});
  }
  retire_sources(pool);
  pool.running = std::move(running);
  pool.sync_at = {};
}

void ScrapeManager::Impl::retire_sources(ScrapePool& pool) {
  for (ScrapePool::RunningSource& source : pool.running)
    retired_.push_back(std::move(source.runner));
  pool.running.clear();
}

// Joining a source's thread may not happen under the lock, which the source takes to say that it
// has news.
void ScrapeManager::Impl::drop_retired() {
  std::vector<std::shared_ptr<DiscoveryRunner>> retired;
  {
    base::MutexLock lock(mutex_);
    retired.swap(retired_);
  }
  retired.clear();
  base::MutexLock lock(mutex_);
  std::erase_if(runners_, [](const auto& item) { return item.second.expired(); });
}

void ScrapeManager::Impl::wake() {
  base::MutexLock lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

void ScrapeManager::Impl::take_source_news(Steady steady) {
  for (auto& [name, pool] : pools_) {
    if (!pool.has_news() || pool.sync_at > steady) continue;
    pool.sync_at = steady + options_.discovery_batch;
    take_sync(pool.sync(ending_));
  }
}

void ScrapeManager::Impl::watch_folders() {
  if (watcher_ == nullptr) return;
  std::vector<std::string> folders;
  for (const auto& [name, pool] : pools_) {
    for (const FileDiscoveryConfig& config : pool.job()->config.discovery.files) {
      for (const std::string& file : config.files)
        folders.push_back(std::filesystem::path(file).parent_path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  watcher_->watch(std::move(folders));
}

void ScrapeManager::Impl::folders_changed() {
  base::MutexLock lock(mutex_);
  const Steady soon = clock_.steady_now() + options_.discovery_settle;
  for (auto& [name, pool] : pools_) {
    if (pool.files != nullptr) pool.poll_at = std::min(pool.poll_at, soon);
  }
  // A folder may have been replaced by another of its name.
  watch_folders();
  is_woken_ = true;
  changed_.notify_all();
}

}  // namespace vagt::scrape
