// rate and its kin: what looks at differences between neighbouring samples.
#include <cmath>

#include "query/operators/window.h"

namespace vagt::query {
namespace {

// Indexes i at which v[i] fell below v[i - 1]: the counter began anew.
void find_resets(std::span<const double> v, std::vector<uint32_t>& resets) {
  resets.clear();
  for (size_t i = 1; i < v.size(); ++i) {
    if (v[i] < v[i - 1]) resets.push_back(static_cast<uint32_t>(i));
  }
}

// rate, increase, delta, extrapolated to the window's edges as Prometheus 3 does it.
class ExtrapolatedRate final : public WindowFunction {
 public:
  ExtrapolatedRate(const WindowTimes& times, bool counter, bool per_second)
      : times_(times), counter_(counter), per_second_(per_second) {}

  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    if (counter_) find_resets(w.v, resets_);
    const double range = times_.range_seconds();
    size_t first_reset = 0;
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      if (hi - lo < 2) return;
      double change = w.v[hi - 1] - w.v[lo];
      if (counter_) {
        while (first_reset < resets_.size() && resets_[first_reset] <= lo) ++first_reset;
        for (size_t r = first_reset; r < resets_.size() && resets_[r] < hi; ++r)
          change += w.v[resets_[r] - 1];
      }
      double factor = extrapolation(w, lo, hi, step, change);
      if (per_second_) factor /= range;
      row[step] = change * factor;
      mask[step] = 1;
    });
  }

 private:
  double extrapolation(const Windows& w, size_t lo, size_t hi, size_t step, double change) const {
    const Timestamp first = w.t[lo], last = w.t[hi - 1];
    double to_start = to_seconds(first - times_.start(step));
    double to_end = to_seconds(times_.end(step) - last);
    const double sampled = to_seconds(last - first);
    const double average = sampled / static_cast<double>(hi - lo - 1);
    const double threshold = average * 1.1;
    if (to_start >= threshold) to_start = average / 2;
    if (counter_) {
      // A counter was never below zero: do not extrapolate past the instant it would have been.
      double to_zero = to_start;
      if (change > 0 && w.v[lo] >= 0) to_zero = sampled * (w.v[lo] / change);
      if (to_zero < to_start) to_start = to_zero;
    }
    if (to_end >= threshold) to_end = average / 2;
    return (sampled + to_start + to_end) / sampled;
  }

  const WindowTimes times_;
  const bool counter_, per_second_;
  std::vector<uint32_t> resets_;
};

// irate, idelta: the last two samples.
class LastTwo final : public WindowFunction {
 public:
  explicit LastTwo(bool rate) : rate_(rate) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      if (hi - lo < 2) return;
      const Duration apart = w.t[hi - 1] - w.t[hi - 2];
      if (apart.count() == 0) return;
      double v = w.v[hi - 1];
      // A counter that fell began anew at zero.
      if (!rate_ || !(w.v[hi - 1] < w.v[hi - 2])) v -= w.v[hi - 2];
      if (rate_) v /= to_seconds(apart);
      row[step] = v;
      mask[step] = 1;
    });
  }

 private:
  const bool rate_;
};

// changes, resets: how often neighbours differ in one way.
class CountSteps final : public WindowFunction {
 public:
  explicit CountSteps(bool resets) : resets_(resets) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    until_.assign(w.v.size(), 0);
    for (size_t i = 1; i < w.v.size(); ++i) {
      const double now = w.v[i], before = w.v[i - 1];
      const bool counts =
          resets_ ? now < before : now != before && !(std::isnan(now) && std::isnan(before));
      until_[i] = until_[i - 1] + (counts ? 1 : 0);
    }
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      row[step] = static_cast<double>(until_[hi - 1] - until_[lo]);
      mask[step] = 1;
    });
  }

 private:
  const bool resets_;
  std::vector<uint32_t> until_;
};

// Least squares; x in seconds from an origin.
struct Regression {
  CompensatedSum x, y, xy, x2;
  double first = 0, count = 0;
  bool constant = true;

  void add(Duration from_origin, double v) {
    if (count == 0) first = v;
    if (v != first) constant = false;
    count += 1;
    const double seconds = static_cast<double>(from_origin.count()) / 1e3;
    x.add(seconds);
    y.add(v);
    xy.add(seconds * v);
    x2.add(seconds * seconds);
  }
  struct Line {
    double slope, intercept;
  };
  Line line() const {
    if (constant) {
      if (std::isinf(first)) return {std::nan(""), std::nan("")};
      return {0, first};
    }
    const double sx = x.sum + x.error, sy = y.sum + y.error;
    const double sxy = xy.sum + xy.error, sx2 = x2.sum + x2.error;
    const double slope = (sxy - sx * sy / count) / (sx2 - sx * sx / count);
    return {slope, sy / count - slope * sx / count};
  }
};

class Deriv final : public WindowFunction {
 public:
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window_in_lanes<Regression>(
        w,
        [](Regression& regression, size_t i, size_t nth, const Windows& at) {
          regression.add(at.t[i] - at.t[i - nth], at.v[i]);
        },
        [&](size_t step, size_t lo, size_t hi, const Regression& regression) {
          if (hi - lo < 2) return;
          row[step] = regression.line().slope;
          mask[step] = 1;
        });
  }
};

class PredictLinear final : public WindowFunction {
 public:
  PredictLinear(const WindowTimes& times, std::vector<double> ahead)
      : times_(times), ahead_(std::move(ahead)) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      if (hi - lo < 2) return;
      // From the step itself, even where `offset` or `@` moved the window.
      Regression regression;
      for (size_t i = lo; i < hi; ++i) regression.add(w.t[i] - times_.grid.at(step), w.v[i]);
      const Regression::Line line = regression.line();
      row[step] = line.slope * ahead_[step] + line.intercept;
      mask[step] = 1;
    });
  }

 private:
  const WindowTimes times_;
  const std::vector<double> ahead_;
};

// Holt's double exponential smoothing.
class DoubleExponentialSmoothing final : public WindowFunction {
 public:
  DoubleExponentialSmoothing(std::vector<double> smoothing, std::vector<double> trend)
      : smoothing_(std::move(smoothing)), trend_(std::move(trend)) {}
  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      if (hi - lo < 2) return;
      const double sf = smoothing_[step], tf = trend_[step];
      double before = 0, level = w.v[lo], slope = w.v[lo + 1] - w.v[lo];
      for (size_t i = lo + 1; i < hi; ++i) {
        const double x = sf * w.v[i];
        if (i > lo + 1) slope = tf * (level - before) + (1 - tf) * slope;
        const double y = (1 - sf) * (level + slope);
        before = level;
        level = x + y;
      }
      row[step] = level;
      mask[step] = 1;
    });
  }

 private:
  const std::vector<double> smoothing_, trend_;
};

}  // namespace

double WindowTimes::range_seconds() const {
  const int64_t ms = time.range.count();
  return static_cast<double>(ms / 1000) + static_cast<double>(ms % 1000 * 1'000'000) / 1e9;
}

WindowFunctionPtr make_rate_function(std::string_view name, const WindowTimes& times,
                                     const StepArguments& arguments) {
  if (name == "rate") return std::make_unique<ExtrapolatedRate>(times, true, true);
  if (name == "increase") return std::make_unique<ExtrapolatedRate>(times, true, false);
  if (name == "delta") return std::make_unique<ExtrapolatedRate>(times, false, false);
  if (name == "irate") return std::make_unique<LastTwo>(true);
  if (name == "idelta") return std::make_unique<LastTwo>(false);
  if (name == "changes") return std::make_unique<CountSteps>(false);
  if (name == "resets") return std::make_unique<CountSteps>(true);
  if (name == "deriv") return std::make_unique<Deriv>();
  if (name == "predict_linear") return std::make_unique<PredictLinear>(times, arguments.at(0));
  if (name == "double_exponential_smoothing")
    return std::make_unique<DoubleExponentialSmoothing>(arguments.at(0), arguments.at(1));
  return nullptr;
}

}  // namespace vagt::query
