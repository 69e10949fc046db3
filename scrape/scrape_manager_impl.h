// The inside of ScrapeManager: timer, pools, work handed to the parse workers.
#pragma once

#include <deque>
#include <map>
#include <queue>
#include <random>
#include <stop_token>
#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "scrape/file_watcher.h"
#include "scrape/page_body.h"
#include "scrape/scrape_manager.h"
#include "scrape/scrape_metrics.h"
#include "scrape/scrape_pool.h"

namespace vagt::scrape {

class ScrapeManager::Impl {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  Impl(ScrapeManagerOptions options, tsdb::Store& store, Clock& clock, base::Registry& registry,
       base::Logger log, std::unique_ptr<Fetcher> fetcher);
  ~Impl();

  Status apply(std::vector<ScrapeConfig> jobs) VAGT_EXCLUDES(mutex_);
  void start();
  void stop() VAGT_EXCLUDES(mutex_);
  Steady step() VAGT_EXCLUDES(mutex_);
  void wait_idle() VAGT_EXCLUDES(mutex_);

  std::vector<TargetView> active_targets(std::string_view pool) const VAGT_EXCLUDES(mutex_);
  std::vector<DroppedTargetView> dropped_targets(std::string_view pool) const VAGT_EXCLUDES(mutex_);
  std::vector<PoolView> pools() const VAGT_EXCLUDES(mutex_);
  JobPtr job_of(std::string_view pool) const VAGT_EXCLUDES(mutex_);  // null: no such pool
  std::vector<TargetMetadata> metadata(const std::function<bool(const Labels&)>& wanted) const
      VAGT_EXCLUDES(mutex_);

 private:
  struct Due {
    Timestamp at;
    TargetPtr target;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  struct Scrape {
    TargetPtr target;
    JobPtr job;
    std::string forced_error;
    Timestamp at{};  // what the samples will carry
    Steady started{};
  };

  // What the gauges show of a pool: numbers, without the texts of its errors.
  struct PoolSizes {
    std::string name;
    size_t active = 0, discovered = 0, failing_sources = 0;
  };

  struct Question {
    std::string pool;
    std::shared_ptr<ScrapePool::HttpSource> http;
  };

  std::vector<PoolSizes> pool_sizes() const VAGT_EXCLUDES(mutex_);
  Status set_jobs(std::vector<ScrapeConfig> configs) VAGT_EXCLUDES(mutex_);

  // Timer thread.
  void run(std::stop_token stop) VAGT_NO_THREAD_ANALYSIS;
  void follow_wall_clock(Timestamp wall, Steady steady) VAGT_REQUIRES(mutex_);
  std::vector<Scrape> take_due(Timestamp wall, Steady steady) VAGT_REQUIRES(mutex_);
  void start_polls(Steady steady) VAGT_REQUIRES(mutex_);
  std::vector<Question> take_questions(Steady steady) VAGT_REQUIRES(mutex_);
  void ask(Question question) VAGT_EXCLUDES(mutex_);
  void take_source_news(Steady steady) VAGT_REQUIRES(mutex_);
  void set_sources(ScrapePool& pool) VAGT_REQUIRES(mutex_);
  void watch_folders() VAGT_REQUIRES(mutex_);
  void wake() VAGT_EXCLUDES(mutex_);
  void folders_changed() VAGT_EXCLUDES(mutex_);
  void retire_sources(ScrapePool& pool) VAGT_REQUIRES(mutex_);
  void drop_retired() VAGT_EXCLUDES(mutex_);
  void start_endings(Steady steady) VAGT_REQUIRES(mutex_);
  bool is_continued(const ActiveTarget& gone) const VAGT_REQUIRES(mutex_);
  Steady next_wake(Timestamp wall, Steady steady) const VAGT_REQUIRES(mutex_);
  void send(Scrape scrape) VAGT_EXCLUDES(mutex_);

  void take_page(const Scrape& scrape, Result<net::HttpResponse> answer,
                 std::shared_ptr<PageBody> body) VAGT_EXCLUDES(mutex_);

  // Parse workers.
  void process(const Scrape& scrape, const Result<net::HttpResponse>& answer) VAGT_EXCLUDES(mutex_);
  void show(const Scrape& scrape, const ScrapeOutcome& outcome, std::chrono::duration<double> took);
  void count(const ScrapeOutcome& outcome);
  void log_failure(const Scrape& scrape, const std::string& error);
  void finish(const TargetPtr& target) VAGT_EXCLUDES(mutex_);
  void poll_files(const std::string& pool, const std::shared_ptr<FileDiscovery>& files)
      VAGT_EXCLUDES(mutex_);
  void take_answer(const Question& question, const Result<net::HttpResponse>& answer)
      VAGT_EXCLUDES(mutex_);
  void end_target(const TargetPtr& target) VAGT_EXCLUDES(mutex_);

  void take_sync(const SyncResult& result) VAGT_REQUIRES(mutex_);
  void schedule(const TargetPtr& target, Timestamp after) VAGT_REQUIRES(mutex_);
  bool hand_over(std::function<void()> task);
  void work_done() VAGT_EXCLUDES(mutex_);
  uint64_t body_limit(const ScrapeJob& job) const;

  const ScrapeManagerOptions options_;
  tsdb::Store& store_;
  Clock& clock_;
  const base::Logger log_;
  base::Registry& registry_;
  ScrapeMetrics metrics_;
  MetadataTable metadata_table_;
  const uint64_t hash_seed_ = std::random_device{}() | uint64_t{std::random_device{}()} << 32;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, ScrapePool> pools_ VAGT_GUARDED_BY(mutex_);
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue_ VAGT_GUARDED_BY(mutex_);
  std::vector<TargetPtr> ending_ VAGT_GUARDED_BY(mutex_);
  Duration wall_offset_
      VAGT_GUARDED_BY(mutex_){};  // wall less monotonic time, as schedules were made with
  size_t under_way_ VAGT_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::weak_ptr<DiscoveryRunner>> runners_
      VAGT_GUARDED_BY(mutex_);  // by fingerprint
  // Their threads are joined without the lock.
  std::vector<std::shared_ptr<DiscoveryRunner>> retired_ VAGT_GUARDED_BY(mutex_);
  std::unique_ptr<FileWatcher> watcher_ VAGT_GUARDED_BY(mutex_);  // null: not started
  bool is_woken_ VAGT_GUARDED_BY(mutex_) = false;
  bool is_stopping_ VAGT_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<void>> gauges_;
  const DiscoveryPlanner planner_;

  const std::shared_ptr<net::BodyBudget> bodies_;
  std::stop_source cut_short_;  // pages that are being read
  std::unique_ptr<Fetcher> fetcher_;
  std::unique_ptr<base::WorkerPool> workers_, large_pages_;
  std::jthread timer_;
};

}  // namespace vagt::scrape
