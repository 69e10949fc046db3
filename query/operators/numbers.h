// Arithmetic with Go's and Prometheus's exact results.
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace vagt::query {

// Adds up with the rounding error carried along; the same bits as Neumaier's comparison of
// magnitudes gives.
struct CompensatedSum {
  double sum = 0, error = 0;

  void add(double v) {
    const double total = sum + v;
    const double added = total - sum;
    const double lost = (sum - (total - added)) + (v - added);
    // Once the sum is infinite its error means nothing; a NaN poisons both by itself.
    error = std::abs(total) == HUGE_VAL ? 0 : error + lost;
    sum = total;
  }
};

// A mean that survives a sum too large for a double: the sum over the count as long as that works,
// an incremental mean from there on.
class CompensatedMean {
 public:
  void add(double v) {
    count_ += 1;
    if (!incremental_) {
      if (count_ == 1) {
        sum_.sum = v;
        return;
      }
      CompensatedSum next = sum_;
      next.add(v);
      if (!std::isinf(next.sum)) {
        sum_ = next;
        return;
      }
      incremental_ = true;
      sum_.sum /= count_ - 1;
      sum_.error /= count_ - 1;
    }
    const double kept = (count_ - 1) / count_;
    sum_.sum *= kept;
    sum_.error *= kept;
    sum_.add(v / count_);
  }
  double value() const {
    return incremental_ ? sum_.sum + sum_.error : sum_.sum / count_ + sum_.error / count_;
  }

 private:
  CompensatedSum sum_;  // the mean once incremental_
  double count_ = 0;
  bool incremental_ = false;
};

// Go's math.Min: -Inf beats NaN, NaN beats the rest, -0 is below +0.
inline double go_min(double a, double b) {
  if (a == -HUGE_VAL || b == -HUGE_VAL) return -HUGE_VAL;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
inline double go_max(double a, double b) { return -go_min(-a, -b); }

// Go's math.Pow, Log, Log2 and Log10: the same answers to the last bit but where exp and log
// themselves round differently.
double go_pow(double base, double exponent);
double go_log(double v);
double go_log2(double v);
inline double go_log10(double v) { return go_log2(v) * 0.30102999566398119521; }

// The order of Prometheus's value sort: NaN is the smallest.
inline bool value_less(double a, double b) {
  if (std::isnan(a)) return !std::isnan(b);
  return a < b;
}

// The φ-quantile of values in that order, interpolated as Prometheus does. They must have been
// sorted stably: zeros of either sign keep their order, as in Go's sort of few values.
double quantile_of_sorted(double q, std::span<const double> sorted);

}  // namespace vagt::query
