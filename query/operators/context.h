// What one run of a plan shares among its operators: limits, annotations, the store's snapshot,
// resolved time shifts.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "query/evaluator.h"
#include "query/operators/operator.h"
#include "query/plan.h"
#include "tsdb/store.h"

namespace vagt::query {

// A selector's or sub-query's time words with arithmetic worked out for this run.
struct ResolvedTime {
  Duration range{0}, step{0}, offset{0};
  std::optional<Timestamp> at;
  Timestamp read_start{}, read_end{};  // what a selector needs of the store, both inclusive
  int shared = -1;                     // index of the read it shares with another selector

  // The instant a step looks at.
  Timestamp effective(Timestamp step_time) const { return at.value_or(step_time) - offset; }
};

struct SharedRead;  // selector_read.h

class EvalContext {
 public:
  EvalContext(const Plan& plan, const EvalOptions& options, StepGrid grid, Timestamp end,
              std::stop_token stop);
  ~EvalContext();
  EvalContext(const EvalContext&) = delete;
  EvalContext& operator=(const EvalContext&) = delete;

  // Cancelled or Timeout, once either is so. Cheap enough for every series.
  Status check();
  // For loops within a series: counts `work` in samples looked at and looks at the clock now and
  // then. False: leave off; check() says why.
  bool may_go_on(size_t work) {
    work_ += work;
    return work_ < kWorkBetweenLooks || look();
  }
  // Counts samples held in memory; LimitExceeded beyond max_samples.
  Status hold(size_t samples);
  void release(size_t samples) { held_ -= samples; }
  // LimitExceeded: one series over that many steps would already be too much.
  Status check_steps(size_t steps) const;

  // Annotations, each text once.
  void warn(const std::string& text, Source at) { note(warnings_, "PromQL warning: " + text, at); }
  void info(const std::string& text, Source at) { note(infos_, "PromQL info: " + text, at); }
  // A histogram_quantile input that had to be made monotonic; summed up at the end over all steps.
  void forced_monotonic(const std::string& metric, Source at, Timestamp step, double min_bucket,
                        double max_bucket, double max_diff);
  void take_annotations(QueryResult& result);
  // Null unless the run is traced.
  NodeCost* cost_of(const Expr& expr) {
    const auto it = costs_.find(&expr);
    return it == costs_.end() ? nullptr : &stats.nodes[it->second];
  }

  const Plan& plan;
  const EvalOptions& options;
  const StepGrid grid;  // of the query itself
  const Timestamp end;  // as asked for; the last step may come before it
  std::unique_ptr<tsdb::Querier> querier;
  std::unordered_map<const Expr*, ResolvedTime> times;
  std::vector<std::unique_ptr<SharedRead>> shared;
  EvalStats stats;

 private:
  struct Monotonicity {
    double min_bucket, max_bucket, max_diff;
    Timestamp first, last;
    size_t count;
  };
  // About a tenth of a millisecond of adding up.
  static constexpr size_t kWorkBetweenLooks = 1U << 16U;
  bool look();
  void note(std::set<std::string>& list, const std::string& text, Source at);
  void list_nodes(const PlanNode& node, size_t depth);

  std::unordered_map<const Expr*, size_t> costs_;  // place in stats.nodes
  const std::stop_token stop_;
  const std::chrono::steady_clock::time_point deadline_;
  size_t held_ = 0;
  uint32_t checks_ = 0;
  size_t work_ = 0;
  Status stopped_;  // why; stays
  std::set<std::string> warnings_, infos_;
  std::map<std::pair<std::string, uint32_t>, Monotonicity> monotonicity_;
};

// Works out every selector's times below the root and opens the store's snapshot over what they
// need. InvalidArgument: duration arithmetic came to nothing usable.
Status open_reads(EvalContext& context, tsdb::Store& store);

}  // namespace vagt::query
