// Plans and runs queries. A plan is made once and may run many times, from several threads.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "query/ast.h"
#include "query/value.h"
#include "tsdb/store.h"

namespace vagt::query {

struct EvalOptions {
  Duration lookback = std::chrono::minutes(5);  // --query.lookback-delta
  size_t max_samples = 50'000'000;              // --query.max-samples: held in memory at once
  Duration timeout = std::chrono::minutes(2);   // --query.timeout
  Duration default_subquery_step = std::chrono::minutes(1);  // global.evaluation_interval
  bool delayed_name_removal = false;  // --enable-feature=promql-delayed-name-removal
  const Clock* clock = nullptr;       // for the timeout; null: the system's steady clock
  bool trace = false;                 // fills EvalStats::nodes; costs a little
};

// What one node of a plan did in a run, the nodes below it included in `seconds`.
struct NodeCost {
  std::string expr;  // as print_expr() has it
  ValueType type = ValueType::None;
  size_t depth = 0;                            // 0: the root
  uint64_t series_read = 0, samples_read = 0;  // by a selector, from the store or a shared read
  uint64_t series = 0, values = 0;             // handed to the node above
  double seconds = 0;
};

// Per run; copied into the result by whoever wants to show it.
struct EvalStats {
  uint64_t samples_read = 0;
  uint64_t peak_samples = 0;
  uint64_t series_read = 0;
  std::vector<NodeCost> nodes;  // with EvalOptions::trace: in the plan's order, root first
};

class Plan;  // query/plan.h
using PlanPtr = std::shared_ptr<const Plan>;
// The expression must have been type-checked (parse_expr does).
// `text` is what was parsed; annotations name places in it by line and column.
PlanPtr make_plan(ExprPtr expr, std::string text = {});
const Expr& plan_expr(const Plan& plan);

// The plan of a traced run as an indented tree, one node a line, with what each cost.
std::string explain_run(const EvalStats& stats);

// Errors: Timeout, Cancelled (stop requested), LimitExceeded (samples), InvalidArgument (execution
// errors such as many-to-many matching, worded as Prometheus words them), and whatever the store
// said.
Result<QueryResult> eval_instant(const Plan& plan, tsdb::Store& store, Timestamp at,
                                 const EvalOptions& options, std::stop_token stop = {},
                                 EvalStats* stats = nullptr);
// Steps start, start+step, … ≤ end. A scalar expression becomes one series without labels; a string
// or range vector is InvalidArgument.
Result<QueryResult> eval_range(const Plan& plan, tsdb::Store& store, Timestamp start, Timestamp end,
                               Duration step, const EvalOptions& options, std::stop_token stop = {},
                               EvalStats* stats = nullptr);

}  // namespace vagt::query
