// Sums, means and deviations over windows.
#include <cmath>

#include "query/operators/window.h"

namespace vagt::query {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: integers up to here add without rounding

// True when all values are whole and any of their partial sums is exact; then prefix[i] is the sum
// of the first i. The compensated sum of a window is then the difference of two prefixes, to the
// bit.
bool whole_prefixes(std::span<const double> v, std::vector<int64_t>& prefix) {
  prefix.resize(v.size() + 1);
  prefix[0] = 0;
  double magnitude = 0;
  int64_t sum = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (!(std::abs(v[i]) <= kExact)) return false;
    const auto whole = static_cast<int64_t>(v[i]);
    if (static_cast<double>(whole) != v[i]) return false;
    magnitude += std::abs(v[i]);
    if (magnitude > kExact) return false;
    sum += whole;
    prefix[i + 1] = sum;
  }
  return true;
}

class SumOverTime final : public WindowFunction {
 public:
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    if (whole_prefixes(w.v, prefix_)) {
      each_window(w, [&](size_t step, size_t lo, size_t hi) {
        row[step] = static_cast<double>(prefix_[hi] - prefix_[lo]);
        mask[step] = 1;
      });
      return;
    }
    each_window_in_lanes<CompensatedSum>(
        w, [](CompensatedSum& sum, size_t i, size_t, const Windows& at) { sum.add(at.v[i]); },
        [&](size_t step, size_t, size_t, const CompensatedSum& sum) {
          row[step] = std::isinf(sum.sum) ? sum.sum : sum.sum + sum.error;
          mask[step] = 1;
        });
  }

 private:
  std::vector<int64_t> prefix_;
};

double careful_mean(std::span<const double> v) {
  CompensatedMean mean;
  for (double each : v) mean.add(each);
  return mean.value();
}

class AvgOverTime final : public WindowFunction {
 public:
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    if (whole_prefixes(w.v, prefix_)) {
      each_window(w, [&](size_t step, size_t lo, size_t hi) {
        row[step] = static_cast<double>(prefix_[hi] - prefix_[lo]) / static_cast<double>(hi - lo);
        mask[step] = 1;
      });
      return;
    }
    each_window_in_lanes<CompensatedSum>(
        w,
        [](CompensatedSum& sum, size_t i, size_t nth, const Windows& at) {
          if (nth == 0) {
            sum.sum = at.v[i];
          } else {
            sum.add(at.v[i]);
          }
        },
        [&](size_t step, size_t lo, size_t hi, const CompensatedSum& sum) {
          const auto n = static_cast<double>(hi - lo);
          // A sum that ended finite never was anything else; only then is the mean this simple.
          row[step] = std::isfinite(sum.sum) ? sum.sum / n + sum.error / n
                                             : careful_mean(w.v.subspan(lo, hi - lo));
          mask[step] = 1;
        });
  }

 private:
  std::vector<int64_t> prefix_;
};

class Variance final : public WindowFunction {
 public:
  explicit Variance(bool root) : root_(root) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    struct State {
      CompensatedSum mean, squares;
    };
    each_window_in_lanes<State>(
        w,
        [](State& state, size_t i, size_t nth, const Windows& at) {
          const double v = at.v[i];
          const double delta = v - (state.mean.sum + state.mean.error);
          state.mean.add(delta / static_cast<double>(nth + 1));
          state.squares.add(delta * (v - (state.mean.sum + state.mean.error)));
        },
        [&](size_t step, size_t lo, size_t hi, const State& state) {
          const double variance =
              (state.squares.sum + state.squares.error) / static_cast<double>(hi - lo);
          row[step] = root_ ? std::sqrt(variance) : variance;
          mask[step] = 1;
        });
  }

 private:
  const bool root_;
};

// What one look at the window's ends tells.
template <class Value>
class FromEnds final : public WindowFunction {
 public:
  explicit FromEnds(Value value) : value_(value) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      row[step] = value_(w, lo, hi);
      mask[step] = 1;
    });
  }

 private:
  const Value value_;
};
template <class Value>
WindowFunctionPtr from_ends(Value value) {
  return std::make_unique<FromEnds<Value>>(value);
}

}  // namespace

WindowFunctionPtr make_moment_function(std::string_view name, const StepArguments&) {
  if (name == "sum_over_time") return std::make_unique<SumOverTime>();
  if (name == "avg_over_time") return std::make_unique<AvgOverTime>();
  if (name == "stddev_over_time") return std::make_unique<Variance>(true);
  if (name == "stdvar_over_time") return std::make_unique<Variance>(false);
  if (name == "count_over_time")
    return from_ends(
        [](const Windows&, size_t lo, size_t hi) { return static_cast<double>(hi - lo); });
  if (name == "present_over_time" || name == "absent_over_time")
    return from_ends([](const Windows&, size_t, size_t) { return 1.0; });
  if (name == "last_over_time")
    return from_ends([](const Windows& w, size_t, size_t hi) { return w.v[hi - 1]; });
  if (name == "first_over_time")
    return from_ends([](const Windows& w, size_t lo, size_t) { return w.v[lo]; });
  if (name == "ts_of_last_over_time")
    return from_ends([](const Windows& w, size_t, size_t hi) { return to_seconds(w.t[hi - 1]); });
  if (name == "ts_of_first_over_time")
    return from_ends([](const Windows& w, size_t lo, size_t) { return to_seconds(w.t[lo]); });
  return nullptr;
}

}  // namespace vagt::query
