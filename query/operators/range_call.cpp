#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/number_text.h"
#include "query/functions.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/range_source.h"
#include "query/operators/window.h"

namespace vagt::query {
namespace {

using Extended = VectorSelector::Extended;

bool ends_like_counter(std::string_view name) {
  const auto ends_with = [&](std::string_view suffix) {
    return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
  };
  return ends_with("_total") || ends_with("_sum") || ends_with("_count") || ends_with("_bucket");
}

class RangeCall final : public Operator {
 public:
  struct Parts {
    std::string_view name;
    WindowTimes times{{}, {}};
    std::unique_ptr<RangeSource> source;
    WindowFunctionPtr function;
    StepArguments arguments;
    Source range_source, first_source;  // of the range argument and of the first argument
    Duration before{0}, after{0};       // what the windows reach beyond the range
  };
  RangeCall(Parts parts, EvalContext& context)
      : parts_(std::move(parts)),
        context_(context),
        keeps_name_(parts_.name == "last_over_time" || parts_.name == "first_over_time"),
        counts_up_(parts_.name == "rate" || parts_.name == "increase") {}

  Result<bool> next(StepBatch& out) override {
    const size_t steps = parts_.times.grid.count;
    out.reset(steps);
    while (!out.full()) {
      VAGT_TRY(const bool more, parts_.source->next());
      if (!more) break;
      const SampleColumns& samples = parts_.source->samples();
      if (samples.size() == 0) continue;
      place_windows(samples.t);
      const bool drop =
          parts_.source->drop_name() || (!keeps_name_ && context_.options.delayed_name_removal);
      const size_t row = out.add(parts_.source->labels(), drop);
      parts_.function->run({context_, samples.t, samples.v, lo_, hi_}, out.row(row), out.mask(row));
      VAGT_CHECK_OK(context_.check());
      if (!any_present(out.mask(row))) {
        out.remove_last();
        continue;
      }
      VAGT_CHECK_OK(judge(out, row));
      if (!keeps_name_ && !context_.options.delayed_name_removal)
        out.labels[row] = without_metadata(out.labels[row]);
    }
    return out.rows() > 0;
  }

 private:
  // Both ends of the windows only move forward, so one walk over the samples places them all.
  void place_windows(std::span<const Timestamp> t) {
    const size_t steps = parts_.times.grid.count, n = t.size();
    lo_.resize(steps);
    hi_.resize(steps);
    size_t lo = 0, hi = 0;
    for (size_t i = 0; i < steps; ++i) {
      const Timestamp end = parts_.times.end(i);
      const Timestamp after = end - parts_.times.time.range - parts_.before;
      const Timestamp last = end + parts_.after;
      while (hi < n && t[hi] <= last) ++hi;
      while (lo < hi && t[lo] <= after) ++lo;
      lo_[i] = static_cast<uint32_t>(lo);
      hi_[i] = static_cast<uint32_t>(hi);
    }
  }

  // Annotations and errors that depend on whether there was anything to compute.
  Status judge(const StepBatch& out, size_t row) {
    if (counts_up_) {
      const std::string_view name = out.labels[row].get(kMetricName);
      if (!name.empty() && !ends_like_counter(name)) {
        context_.info(
            "metric might not be a counter, name does not end in _total/_sum/_count/_bucket: " +
                quote(name),
            parts_.range_source);
      }
    } else if (parts_.name == "quantile_over_time") {
      for (size_t i = 0; i < out.steps(); ++i) {
        const double q = parts_.arguments[0][i];
        if (out.mask(row)[i] == 0 || (q >= 0 && q <= 1)) continue;
        context_.warn("quantile value should be between 0 and 1, got " + format_float_g(q),
                      parts_.first_source);
      }
    } else if (parts_.name == "double_exponential_smoothing") {
      return check_factors();
    }
    return {};
  }

  Status check_factors() const {
    for (size_t which = 0; which < 2; ++which) {
      for (double factor : parts_.arguments[which]) {
        if (!(factor <= 0 || factor >= 1)) continue;
        char text[100];
        std::snprintf(text, sizeof text, "invalid %s factor. Expected: 0 < %s < 1, got: %f",
                      which == 0 ? "smoothing" : "trend", which == 0 ? "sf" : "tf", factor);
        return Status::invalid(text);
      }
    }
    return {};
  }

  Parts parts_;
  EvalContext& context_;
  const bool keeps_name_, counts_up_;
  std::vector<uint32_t> lo_, hi_;
};

Status use_extended(RangeCall::Parts& parts, Extended extended, const EvalContext& context) {
  const bool smoothed = extended == Extended::Smoothed;
  parts.function = make_extended_function(parts.name, parts.times, smoothed);
  if (smoothed && (parts.name == "changes" || parts.name == "resets")) parts.function = nullptr;
  if (!parts.function) {
    return Status::invalid(
        std::string(smoothed ? "smoothed modifier can only be used with: delta, increase, rate"
                             : "anchored modifier can only be used with: changes, delta, "
                               "increase, rate, resets") +
        " - not with " + std::string(parts.name));
  }
  parts.before = context.options.lookback;
  if (smoothed) parts.after = context.options.lookback;
  return {};
}

}  // namespace

Result<OperatorPtr> make_range_call(const PlanNode& node, const StepGrid& grid,
                                    EvalContext& context) {
  const auto& call = std::get<Call>(node.expr->node);
  RangeCall::Parts parts;
  parts.name = call.function->name;
  parts.first_source = call.args[0]->source;
  const PlanNode* range = nullptr;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const PlanNode& child = node.children[i];
    if (child.expr->type == ValueType::Matrix) {
      range = &child;
      parts.range_source = call.args[i]->source;
    } else {
      VAGT_TRY(std::vector<double> argument, eval_scalar(child, grid, context));
      parts.arguments.push_back(std::move(argument));
    }
  }
  parts.times = WindowTimes(grid, context.times.at(range->expr));
  Extended extended = Extended::None;
  if (const auto* matrix = std::get_if<MatrixSelector>(&range->expr->node))
    extended = std::get<VectorSelector>(without_parens(*matrix->vector).node).extended;
  if (extended == Extended::None) {
    parts.function = make_window_function(parts.name, parts.times, parts.arguments);
  } else {
    VAGT_CHECK_OK(use_extended(parts, extended, context));
  }
  if (!parts.function)
    return Status{Code::Internal, "no window function " + std::string(parts.name)};
  VAGT_TRY(parts.source, make_range_source(*range, grid, parts.name, context));
  return OperatorPtr(std::make_unique<RangeCall>(std::move(parts), context));
}

}  // namespace vagt::query
