// Minima, maxima and quantiles over windows.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "query/operators/sort_checked.h"
#include "query/operators/window.h"

namespace vagt::query {
namespace {

// The window's extreme by a queue of candidates: each sample enters and leaves once. Among equal
// values the first one counts (it decides the sign of zero), and NaN only where there is nothing
// else.
class Extreme final : public WindowFunction {
 public:
  explicit Extreme(bool largest) : largest_(largest) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    queue_.clear();
    size_t head = 0, entered = 0;
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      for (; entered < hi; ++entered) {
        const double v = w.v[entered];
        if (std::isnan(v)) continue;
        while (queue_.size() > head && better(v, w.v[queue_.back()])) queue_.pop_back();
        queue_.push_back(static_cast<uint32_t>(entered));
      }
      while (head < queue_.size() && queue_[head] < lo) ++head;
      row[step] = head < queue_.size() ? w.v[queue_[head]] : w.v[hi - 1];
      mask[step] = 1;
    });
  }

 private:
  bool better(double a, double b) const { return largest_ ? a > b : a < b; }
  const bool largest_;
  std::vector<uint32_t> queue_;
};

// ts_of_min_over_time, ts_of_max_over_time: when the last of the extremes was.
class ExtremeTime final : public WindowFunction {
 public:
  explicit ExtremeTime(bool largest) : largest_(largest) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      size_t best = lo;
      for (size_t i = lo; i < hi; ++i) {
        const bool as_good = largest_ ? w.v[i] >= w.v[best] : w.v[i] <= w.v[best];
        if (as_good || std::isnan(w.v[best])) best = i;
      }
      row[step] = to_seconds(w.t[best]);
      mask[step] = 1;
    });
  }

 private:
  const bool largest_;
};

// The window's values kept in order from step to step.
class QuantileOverTime final : public WindowFunction {
 public:
  explicit QuantileOverTime(std::vector<double> q) : q_(std::move(q)) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    sorted_.clear();
    size_t from = 0, to = 0;  // the samples in sorted_
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      const std::span<const double> window = w.v.subspan(lo, hi - lo);
      if (lo >= to || window.size() < kWorthKeeping) {
        sorted_.assign(window.begin(), window.end());
        sort_checked(sorted_, value_less, w.context);
      } else if ((lo - from) + (hi - to) <= kOneByOne) {
        for (; from < lo; ++from) remove(w.v[from]);
        for (; to < hi; ++to) insert(w.v[to]);
      } else {
        exchange(w.v.subspan(from, lo - from), w.v.subspan(to, hi - to), w.context);
      }
      from = lo;
      to = hi;
      row[step] = quantile_of_sorted(q_[step], sorted_);
      mask[step] = 1;
    });
  }

 private:
  static constexpr size_t kWorthKeeping = 8, kOneByOne = 16;

  void insert(double v) {
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), v, value_less), v);
  }
  void remove(double v) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), v, value_less));
  }

  // Many at once in two walks. Of equal values those that came first leave first.
  void exchange(std::span<const double> leaving, std::span<const double> entering,
                EvalContext& context) {
    moving_.assign(leaving.begin(), leaving.end());
    sort_checked(moving_, value_less, context);
    kept_.clear();
    std::set_difference(sorted_.begin(), sorted_.end(), moving_.begin(), moving_.end(),
                        std::back_inserter(kept_), value_less);
    moving_.assign(entering.begin(), entering.end());
    sort_checked(moving_, value_less, context);
    sorted_.clear();
    std::merge(kept_.begin(), kept_.end(), moving_.begin(), moving_.end(),
               std::back_inserter(sorted_), value_less);
  }

  const std::vector<double> q_;
  std::vector<double> sorted_, kept_, moving_;
};

// Median absolute deviation from the median; one NaN in the window makes it NaN.
class MadOverTime final : public WindowFunction {
 public:
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      const std::span<const double> window = w.v.subspan(lo, hi - lo);
      values_.assign(window.begin(), window.end());
      sort_checked(values_, value_less, w.context);
      const double median = quantile_of_sorted(0.5, values_);
      values_.clear();
      bool nan = false;
      for (double v : window) {
        nan = nan || std::isnan(v);
        values_.push_back(std::abs(v - median));
      }
      sort_checked(values_, value_less, w.context);
      row[step] = nan ? normal_nan() : quantile_of_sorted(0.5, values_);
      mask[step] = 1;
    });
  }

 private:
  std::vector<double> values_;
};

}  // namespace

WindowFunctionPtr make_order_function(std::string_view name, const StepArguments& arguments) {
  if (name == "min_over_time") return std::make_unique<Extreme>(false);
  if (name == "max_over_time") return std::make_unique<Extreme>(true);
  if (name == "ts_of_min_over_time") return std::make_unique<ExtremeTime>(false);
  if (name == "ts_of_max_over_time") return std::make_unique<ExtremeTime>(true);
  if (name == "quantile_over_time") return std::make_unique<QuantileOverTime>(arguments.at(0));
  if (name == "mad_over_time") return std::make_unique<MadOverTime>();
  return nullptr;
}

WindowFunctionPtr make_window_function(std::string_view name, const WindowTimes& times,
                                       const StepArguments& arguments) {
  if (auto rate = make_rate_function(name, times, arguments)) return rate;
  if (auto moment = make_moment_function(name, arguments)) return moment;
  return make_order_function(name, arguments);
}

}  // namespace vagt::query
