// Runs rules over stored history: the alerts that the daemon would have sent.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "rules/manager.h"
#include "rules/replay/replay_result.h"
#include "rules/rule.h"
#include "tsdb/store.h"

namespace vagt::rules {

struct ReplayOptions {
  tsdb::Store* history = nullptr;  // borrowed
  // An empty store that takes samples of any age (tsdb::MemoryStore), for what rules record.
  std::function<std::unique_ptr<tsdb::Store>()> make_store;
  Timestamp from{}, to{};       // evaluations in [from, to]
  GlobalRuleSettings settings;  // for groups that leave them open
  std::string external_url;     // for templates
  query::EvalOptions eval;      // limits hold for each query; longer stretches are cut in two
  query::ParseOptions parse;    // of `query` in templates
  size_t max_template_bytes = 64u << 10;
  Duration piece =
      std::chrono::hours(24);            // at most, of one query; more for rules that look far back
  size_t max_alerts = 1'000'000;         // of all rules together
  Duration timeout{};                    // of the whole; 0: none
  const Clock* clock = nullptr;          // for timeout and ReplayedRule::seconds; null: neither
  std::function<void(double)> progress;  // told the part that is done, 0…1; null: nobody is told
};

// The rules run as in a daemon that was started at `from` with no states from before: at the slots
// the daemon would use, with the same code for labels, states and texts. An expression is one range
// query per piece of time; groups that read their own results run slot by slot.
// InvalidArgument: the times, or two groups of one file and name. LimitExceeded: more than
// max_alerts. Timeout, Cancelled, and what the store said. A rule that fails is no error, see
// ReplayedRule::failures.
Result<Replay> replay_rules(std::vector<RuleFile> files, const ReplayOptions& options,
                            std::stop_token stop = {});

}  // namespace vagt::rules
