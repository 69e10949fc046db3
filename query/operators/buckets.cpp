#include "query/operators/buckets.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace vagt::query {
namespace {

// Counts that differ by less than this are taken to be the same count with noise.
constexpr double kTolerance = 1e-12;

bool nearly_equal(double a, double b) {
  if (a == 0 || b == 0 || std::isnan(a) || std::isnan(b)) return a == b;
  return std::abs(a - b) / (std::abs(a) + std::abs(b)) < kTolerance;
}

// False: nothing tells how many observations there are in all.
bool sort_by_bound(std::vector<Bucket>& buckets) {
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.upper < b.upper; });
  if (buckets.back().upper != HUGE_VAL) return false;
  // Bounds written in two ways are one bucket.
  size_t kept = 0;
  for (size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i].upper == buckets[kept].upper) {
      buckets[kept].count += buckets[i].count;
    } else {
      buckets[++kept] = buckets[i];
    }
  }
  buckets.resize(kept + 1);
  return true;
}

void make_monotonic(std::vector<Bucket>& buckets, Monotonicity& monotonicity) {
  double before = buckets[0].count;
  for (size_t i = 1; i < buckets.size(); ++i) {
    const double now = buckets[i].count;
    if (now == before) continue;
    if (nearly_equal(now, before)) {
      buckets[i].count = before;
      continue;
    }
    if (now < before) {
      const double diff = before - now;
      if (!monotonicity.forced) monotonicity.min_bucket = buckets[i].upper;
      monotonicity.forced = true;
      monotonicity.max_bucket = buckets[i].upper;
      monotonicity.max_diff = std::max(monotonicity.max_diff, diff);
      buckets[i].count = before;
      continue;
    }
    before = now;
  }
}

}  // namespace

double bucket_quantile(double q, std::vector<Bucket>& buckets, Monotonicity& monotonicity) {
  if (std::isnan(q)) return q;
  if (q < 0) return -HUGE_VAL;
  if (q > 1) return HUGE_VAL;
  if (!sort_by_bound(buckets)) return std::nan("");
  make_monotonic(buckets, monotonicity);
  if (buckets.size() < 2 || buckets.back().count == 0 || std::isnan(buckets.back().count))
    return std::nan("");
  double rank = q * buckets.back().count;
  const auto last = buckets.end() - 1;
  const auto found = std::partition_point(buckets.begin(), last,
                                          [&](const Bucket& b) { return !(b.count >= rank); });
  if (found == last) return (last - 1)->upper;
  if (found == buckets.begin() && found->upper <= 0) return found->upper;
  double start = 0, count = found->count;
  if (found != buckets.begin()) {
    start = (found - 1)->upper;
    count -= (found - 1)->count;
    rank -= (found - 1)->count;
  }
  return start + (found->upper - start) * (rank / count);
}

double bucket_fraction(double lower, double upper, std::vector<Bucket>& buckets) {
  if (!sort_by_bound(buckets)) return std::nan("");
  const double total = buckets.back().count;
  if (total == 0 || std::isnan(total) || std::isnan(lower) || std::isnan(upper))
    return std::nan("");
  if (lower >= upper) return 0;
  // Observations at or below `v`: whole buckets, then a straight line within one. A bucket without
  // a lower bound counts as a whole, one without an upper bound not at all.
  const auto rank_of = [&](double v) {
    double below = 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
      double start = i > 0 ? buckets[i - 1].upper : -HUGE_VAL;
      const double end = buckets[i].upper;
      if (i == 0 && end > 0) start = 0;
      if (start >= v) return below;
      if (end > v) {
        if (std::isinf(start)) return buckets[i].count;
        return below + (buckets[i].count - below) * (v - start) / (end - start);
      }
      below = buckets[i].count;
    }
    return total;
  };
  const double low = lower == -HUGE_VAL ? 0 : std::min(rank_of(lower), total);
  return (std::min(rank_of(upper), total) - low) / total;
}

std::string format_openmetrics(double v) {
  if (v == 1) return "1.0";
  if (v == 0) return "0.0";
  std::string text = format_float_g(v);
  if (text.find_first_of(".eN") == std::string::npos && std::isfinite(v)) text += ".0";
  return text;
}

}  // namespace vagt::query
