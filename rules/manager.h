// All rule groups of the daemon: loads them, runs them on time, publishes alerts, shows their
// state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/kv_store.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "rules/rule.h"
#include "rules/rule_file.h"
#include "rules/view.h"
#include "tsdb/store.h"

namespace vagt::rules {

// What a reload may change besides the files.
struct GlobalRuleSettings {
  Labels external_labels;
  Duration evaluation_interval = std::chrono::minutes(1);
  Duration query_offset{0};  // global.rule_query_offset
};

class RuleManager {
 public:
  struct Options {
    // All borrowed; they outlive the manager. Null kv: state lives in memory and ALERTS_FOR_STATE
    // only. Null sink: nobody is told. Null registry: no metrics.
    tsdb::Store* store = nullptr;
    Clock* clock = nullptr;
    KvStore* kv = nullptr;
    AlertSink* sink = nullptr;
    base::Registry* registry = nullptr;
    base::Logger log;

    std::string external_url;  // --web.external-url, without a trailing slash
    query::EvalOptions eval;
    query::ParseOptions parse;                              // for `query` in templates
    Duration resend_delay = std::chrono::minutes(1);        // --rules.alert.resend-delay
    Duration for_outage_tolerance = std::chrono::hours(1);  // --rules.alert.for-outage-tolerance
    Duration for_grace_period = std::chrono::minutes(10);   // --rules.alert.for-grace-period
    size_t workers = 2;                                     // groups evaluated at once
    bool restore = true;  // false: neither KvStore nor ALERTS_FOR_STATE is read (rule unit tests)
    size_t max_template_bytes = 64u << 10;
  };

  explicit RuleManager(Options options);
  ~RuleManager();  // stops

  // Replaces all groups. Unchanged groups run on; changed ones keep the state of rules with the
  // same name and labels. Series of vanished rules get staleness markers. Files must have been
  // loaded without errors. InvalidArgument: two groups of the same file and name. Any thread but a
  // rules worker; calls are serialised.
  Status apply(std::vector<RuleFile> files, const GlobalRuleSettings& settings = {});

  // Runs the groups on their own threads until stop(). Starting twice or stopping twice does
  // nothing.
  void start();
  void stop();

  // For tests and replay, instead of start(): evaluates every group whose slot is due at or before
  // `now`, in order of their slots, on the calling thread; one that is several slots behind skips
  // to the newest and counts the missed ones. The next slot due; nullopt when there are no groups.
  std::optional<Timestamp> step(Timestamp now);

  // Groups ordered by file and name. Any thread.
  std::vector<GroupView> view() const;
  // Alerts that are pending or firing. Any thread.
  size_t active_alerts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::rules
