// The targets of one job, kept in step with its configuration and its discovery. Guarded by the
// manager's mutex.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "scrape/discovery.h"
#include "scrape/discovery/discovery_source.h"
#include "scrape/scrape_job.h"
#include "scrape/scrape_loop.h"
#include "scrape/target.h"

namespace vagt::scrape {

// One target that is scraped.
struct ActiveTarget {
  ActiveTarget(TargetIdentity id, std::string pool_name, uint64_t seed, MetadataTable& table)
      : identity(std::move(id)), pool(std::move(pool_name)), loop(identity.labels, seed, table) {}

  // Constant after construction.
  const TargetIdentity identity;
  const std::string pool;

  // Guarded by the manager's mutex.
  JobPtr job;
  Labels discovered;         // may change while the target stays
  std::string forced_error;  // "target_limit exceeded": said instead of scraping
  Timestamp due{};           // wall time of the next scrape
  bool is_busy = false;      // a scrape is under way; its worker owns `loop`
  bool is_gone = false;
  std::chrono::steady_clock::time_point end_at{};  // gone: when its series are marked stale

  // Owned by the worker of the scrape under way.
  ScrapeLoop loop;

  // What pages show.
  mutable base::Mutex mutex;
  TargetView view VAGT_GUARDED_BY(mutex);  // without pool, labels and url, which `identity` has
  MetadataPtr metadata VAGT_GUARDED_BY(mutex);
};
using TargetPtr = std::shared_ptr<ActiveTarget>;

struct SyncResult {
  std::vector<TargetPtr> appeared, vanished, rescheduled;
};

class ScrapePool {
 public:
  ScrapePool(std::string name, uint64_t seed, MetadataTable& table)
      : name_(std::move(name)), seed_(seed), table_(table) {}

  // Takes over a job, new or changed; sync() follows.
  void set_job(JobPtr job);
  // Makes the set of targets what job and discovered groups say. Targets with the same labels and
  // address stay; `ending` are those of this pool that vanished lately and may return with their
  // history.
  SyncResult sync(std::vector<TargetPtr>& ending);
  // All targets vanish.
  SyncResult clear();

  const JobPtr& job() const { return job_; }
  const std::map<uint64_t, TargetPtr>& targets() const { return targets_; }
  const std::vector<Labels>& dropped() const { return dropped_; }
  size_t dropped_count() const { return dropped_count_; }
  std::vector<std::string> errors() const;

  // One http_sd_configs section: asked by one at a time, who owns `source` meanwhile.
  struct HttpSource {
    std::shared_ptr<HttpDiscovery> source;
    bool is_asking = false;
    std::chrono::steady_clock::time_point ask_at{};
    std::vector<TargetGroup> groups;
    std::string error;
  };
  std::vector<std::shared_ptr<HttpSource>> http_sources;

  // Sources that run by themselves, and what sync() last took of each.
  struct RunningSource {
    std::shared_ptr<DiscoveryRunner> runner;
    DiscoveryRunner::State taken;
  };
  std::vector<RunningSource> running;
  std::chrono::steady_clock::time_point sync_at{};  // not before: changes are taken in batches
  // Some of `running` have news.
  bool has_news() const;
  // How many sources do not answer, and how many targets were found before relabelling.
  size_t failing_sources() const;
  size_t discovered_targets() const;

  // File discovery: polled by one worker at a time, which owns `files` meanwhile.
  std::shared_ptr<FileDiscovery> files;
  bool is_polling = false;
  std::chrono::steady_clock::time_point poll_at{};
  std::vector<TargetGroup> file_groups;
  std::vector<std::string> file_errors;

 private:
  TargetPtr take_back(const TargetIdentity& wanted, std::vector<TargetPtr>& ending) const;
  void add_group(const TargetGroup& group, std::map<uint64_t, TargetIdentity>& wanted);

  const std::string name_;
  const uint64_t seed_;
  MetadataTable& table_;
  JobPtr job_;
  std::map<uint64_t, TargetPtr> targets_;  // by identity hash
  std::vector<Labels> dropped_;
  size_t dropped_count_ = 0;
  std::vector<std::string> target_errors_;
};

}  // namespace vagt::scrape
