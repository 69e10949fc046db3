// What discovery sections find, kept up to date for those who scrape nothing: the Alertmanagers of
// `alerting:`, and who wants to see what a job would scrape.
#pragma once

#include <map>

#include "scrape/discovery/discovery_plan.h"

namespace vagt::scrape {

class TargetDirectory {
 public:
  struct Options {
    std::string user_agent = "vagt";
    std::string user = "notify";  // who the targets are for; a label of the metrics
    std::function<void()>
        changed;               // on a source's thread, after what it found changed; may be null
    DiscoveryPlanner planner;  // null: the real sources
  };
  struct Found {
    TargetGroups groups;
    std::vector<std::string> errors;
    bool is_complete = true;  // every source has spoken, be it to say that it cannot
  };

  // `registry` outlives it.
  TargetDirectory(Options options, base::Registry& registry, base::Logger log);
  ~TargetDirectory();  // stops the sources

  // The sections there are from now on: sources that stay run on. Waits for those that end; hold no
  // lock that `changed` takes.
  void apply(const std::vector<const DiscoveryConfig*>& sections) VAGT_EXCLUDES(mutex_);
  // What one of them has found. Any thread.
  Found found(const DiscoveryConfig& section) const VAGT_EXCLUDES(mutex_);

 private:
  using Runners = std::map<std::string, std::shared_ptr<DiscoveryRunner>>;  // by fingerprint

  const Options options_;
  base::Registry& registry_;
  const base::Logger log_;
  const DiscoveryPlanner planner_;
  mutable base::Mutex mutex_;
  Runners runners_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::scrape
