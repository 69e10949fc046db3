#include "query/operators/context.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/number_text.h"
#include "query/operators/selector_read.h"
#include "query/parse.h"

namespace vagt::query {
namespace {

std::chrono::steady_clock::time_point steady_now(const EvalOptions& options) {
  return options.clock != nullptr ? options.clock->steady_now() : std::chrono::steady_clock::now();
}

std::string whole_seconds_text(Timestamp t) {
  return format_rfc3339(from_millis(to_millis(t) / 1000 * 1000));
}

}  // namespace

EvalContext::EvalContext(const Plan& a_plan, const EvalOptions& an_options, StepGrid a_grid,
                         Timestamp an_end, std::stop_token stop)
    : plan(a_plan),
      options(an_options),
      grid(a_grid),
      end(an_end),
      stop_(std::move(stop)),
      deadline_(steady_now(options) + options.timeout) {
  if (options.trace) list_nodes(plan.root(), 0);
}

void EvalContext::list_nodes(const PlanNode& node, size_t depth) {
  costs_.emplace(node.expr, stats.nodes.size());
  NodeCost cost;
  cost.expr = print_expr(*node.expr);
  cost.type = node.expr->type;
  cost.depth = depth;
  stats.nodes.push_back(cost);
  for (const PlanNode& child : node.children) list_nodes(child, depth + 1);
}

EvalContext::~EvalContext() = default;

Status EvalContext::check() {
  // Reading the clock costs more than most series do.
  if (stop_.stop_requested() || (checks_++ & 15U) == 0) look();
  return stopped_;
}

bool EvalContext::look() {
  if (!stopped_.ok()) return false;
  work_ = 0;
  if (stop_.stop_requested()) {
    stopped_ = {Code::Cancelled, "query was canceled in expression evaluation"};
  } else if (steady_now(options) >= deadline_) {
    stopped_ = {Code::Timeout, "query timed out in expression evaluation"};
  }
  // So that no loop goes on after another was told to leave off.
  if (!stopped_.ok()) work_ = kWorkBetweenLooks;
  return stopped_.ok();
}

Status EvalContext::check_steps(size_t steps) const {
  if (steps <= options.max_samples) return {};
  return {Code::LimitExceeded,
          "query processing would load too many samples into memory in query execution"};
}

Status EvalContext::hold(size_t samples) {
  held_ += samples;
  stats.peak_samples = std::max<uint64_t>(stats.peak_samples, held_);
  return check_steps(held_);
}

void EvalContext::note(std::set<std::string>& list, const std::string& text, Source at) {
  list.insert(text + " (" + plan.position(at.begin) + ")");
}

void EvalContext::forced_monotonic(const std::string& metric, Source at, Timestamp step,
                                   double min_bucket, double max_bucket, double max_diff) {
  auto [it, is_new] = monotonicity_.try_emplace(
      {metric, at.begin}, Monotonicity{min_bucket, max_bucket, max_diff, step, step, 0});
  Monotonicity& seen = it->second;
  ++seen.count;
  if (is_new) return;
  seen.min_bucket = std::min(seen.min_bucket, min_bucket);
  seen.max_bucket = std::max(seen.max_bucket, max_bucket);
  seen.max_diff = std::max(seen.max_diff, max_diff);
  seen.first = std::min(seen.first, step);
  seen.last = std::max(seen.last, step);
}

void EvalContext::take_annotations(QueryResult& result) {
  for (const auto& [key, seen] : monotonicity_) {
    std::string text =
        "input to histogram_quantile needed to be fixed for monotonicity (see "
        "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)";
    if (!key.first.empty()) text += " for metric name " + quote(key.first);
    char diff[32];
    std::snprintf(diff, sizeof diff, "%.2g", seen.max_diff);
    text += ", from buckets " + format_float_g(seen.min_bucket) + " to " +
            format_float_g(seen.max_bucket) + ", with a max diff of " + diff + ", over " +
            std::to_string(seen.count) + " samples from " + whole_seconds_text(seen.first) +
            " to " + whole_seconds_text(seen.last);
    info(text, Source{key.second, key.second});
  }
  result.warnings.assign(warnings_.begin(), warnings_.end());
  result.infos.assign(infos_.begin(), infos_.end());
}

}  // namespace vagt::query
