// Functions of a range vector: one series' samples and a window of them for each step.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "query/operators/context.h"
#include "query/operators/numbers.h"
#include "query/operators/operator.h"

namespace vagt::query {

// The samples of one series (no stale markers) and for each step the window [lo, hi) into them.
// Windows only ever move forward.
struct Windows {
  EvalContext& context;
  std::span<const Timestamp> t;
  std::span<const double> v;
  std::span<const uint32_t> lo, hi;
};

// When the steps are and what their windows cover.
struct WindowTimes {
  WindowTimes(const StepGrid& a_grid, const ResolvedTime& a_time) : grid(a_grid), time(a_time) {
    ends.reserve(grid.count);
    for (size_t i = 0; i < grid.count; ++i) ends.push_back(time.effective(grid.at(i)));
  }
  StepGrid grid;
  ResolvedTime time;
  std::vector<Timestamp> ends;  // by step; the same for every series

  Timestamp end(size_t step) const { return ends[step]; }
  Timestamp start(size_t step) const { return ends[step] - time.range; }
  // Go's Duration.Seconds(), to the last bit.
  double range_seconds() const;
};

class WindowFunction {
 public:
  virtual ~WindowFunction() = default;
  // Sets row[i] and mask[i] for each step that has a value. Both arrive zeroed.
  virtual void run(const Windows& windows, std::span<double> row, std::span<uint8_t> mask) = 0;
};
using WindowFunctionPtr = std::unique_ptr<WindowFunction>;

// Scalar arguments by step, in the order they are written.
using StepArguments = std::vector<std::vector<double>>;

// Null when there is no such function. window_rate.cpp, window_moments.cpp and window_order.cpp
// have them.
WindowFunctionPtr make_window_function(std::string_view name, const WindowTimes& times,
                                       const StepArguments& arguments);
WindowFunctionPtr make_rate_function(std::string_view name, const WindowTimes& times,
                                     const StepArguments& arguments);
WindowFunctionPtr make_moment_function(std::string_view name, const StepArguments& arguments);
WindowFunctionPtr make_order_function(std::string_view name, const StepArguments& arguments);

// rate, increase and delta of `anchored` and `smoothed` selectors: window_extended.cpp.
WindowFunctionPtr make_extended_function(std::string_view name, const WindowTimes& times,
                                         bool smoothed);

// Runs `visit(step, lo, hi)` over the steps whose window is not empty, until the query is to stop.
template <class Visit>
void each_window(const Windows& windows, Visit&& visit) {
  for (size_t i = 0; i < windows.lo.size(); ++i) {
    const size_t lo = windows.lo[i], hi = windows.hi[i];
    if (hi <= lo) continue;
    if (!windows.context.may_go_on(hi - lo)) return;
    visit(i, lo, hi);
  }
}

// Folds every window sample by sample: add(state, index, nth, windows), then done(step, lo, hi,
// state). Each sum waits for the one before, so several windows of one length are folded side by
// side.
template <class State, class Add, class Done>
void each_window_in_lanes(const Windows& windows, Add&& add, Done&& done) {
  constexpr size_t kLanes = 4;
  const size_t steps = windows.lo.size();
  const auto length = [&](size_t step) { return windows.hi[step] - windows.lo[step]; };
  for (size_t step = 0; step < steps;) {
    const size_t n = length(step);
    if (!windows.context.may_go_on(n * kLanes)) return;
    bool together = n > 0 && step + kLanes <= steps;
    for (size_t lane = 1; together && lane < kLanes; ++lane) together = length(step + lane) == n;
    if (together) {
      // Four variables and not an array: they stay in registers.
      State a{}, b{}, c{}, d{};
      const size_t lo[kLanes] = {windows.lo[step], windows.lo[step + 1], windows.lo[step + 2],
                                 windows.lo[step + 3]};
      for (size_t nth = 0; nth < n; ++nth) {
        add(a, lo[0] + nth, nth, windows);
        add(b, lo[1] + nth, nth, windows);
        add(c, lo[2] + nth, nth, windows);
        add(d, lo[3] + nth, nth, windows);
      }
      done(step, lo[0], lo[0] + n, a);
      done(step + 1, lo[1], lo[1] + n, b);
      done(step + 2, lo[2], lo[2] + n, c);
      done(step + 3, lo[3], lo[3] + n, d);
      step += kLanes;
      continue;
    }
    if (n > 0) {
      State state{};
      const size_t lo = windows.lo[step];
      for (size_t nth = 0; nth < n; ++nth) add(state, lo + nth, nth, windows);
      done(step, lo, lo + n, state);
    }
    ++step;
  }
}

}  // namespace vagt::query
