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
  std::span<const Timestamp> t;
  std::span<const double> v;
  std::span<const uint32_t> lo, hi;
};

// When the steps are and what their windows cover.
struct WindowTimes {
  StepGrid grid;
  ResolvedTime time;

  Timestamp end(size_t step) const { return time.effective(grid.at(step)); }
  Timestamp start(size_t step) const { return end(step) - time.range; }
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

// Runs `visit(step, lo, hi)` over the steps whose window is not empty.
template <class Visit>
void each_window(const Windows& windows, Visit&& visit) {
  for (size_t i = 0; i < windows.lo.size(); ++i) {
    if (windows.hi[i] > windows.lo[i]) visit(i, size_t{windows.lo[i]}, size_t{windows.hi[i]});
  }
}

}  // namespace vagt::query
