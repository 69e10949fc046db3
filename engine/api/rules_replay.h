// /api/v1/rules/replay: rules run over stored history.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "engine/api/router.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "rules/manager.h"
#include "tsdb/store.h"

namespace vagt::engine::api {

// The rule files in force and what the configuration says to all of them.
struct RunningRules {
  std::vector<rules::RuleFile> files;
  rules::GlobalRuleSettings settings;
};

// How far the replays under way are, by the names their clients gave them. Any thread.
class ReplayProgress {
 public:
  void set(const std::string& id, double done) {
    base::MutexLock lock(mutex_);
    done_[id] = done;
  }
  void erase(const std::string& id) {
    base::MutexLock lock(mutex_);
    done_.erase(id);
  }
  std::map<std::string, double> all() const {
    base::MutexLock lock(mutex_);
    return done_;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, double> done_ VAGT_GUARDED_BY(mutex_);
};

struct ReplayContext {
  tsdb::Store& store;
  const Clock& clock;
  query::ParseOptions parse;
  std::function<query::EvalOptions()> eval_options;
  std::function<std::shared_ptr<const RunningRules>()> running;  // never null
  std::string external_url;
  Duration timeout{};     // of one replay
  size_t max_alerts = 0;  // that one replay may find
  std::shared_ptr<ReplayProgress> progress = std::make_shared<ReplayProgress>();
};

// POST runs a replay; GET tells how far those under way are. `context` must outlive the router.
void add_replay_routes(Router& router, const ReplayContext& context);

}  // namespace vagt::engine::api
