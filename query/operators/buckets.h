// Classic histograms: cumulative counts by upper bound.
#pragma once

#include <string>
#include <vector>

namespace vagt::query {

struct Bucket {
  double upper, count;
};

// What had to be raised to make the counts grow with the bounds.
struct Monotonicity {
  bool forced = false;
  double min_bucket = 0, max_bucket = 0, max_diff = 0;
};

// The value below which the share q lies, on a straight line within its bucket. NaN without
// observations, with fewer than two buckets or without +Inf. Sorts and repairs `buckets`.
double bucket_quantile(double q, std::vector<Bucket>& buckets, Monotonicity& monotonicity);
// The share of observations between the bounds. Sorts `buckets`.
double bucket_fraction(double lower, double upper, std::vector<Bucket>& buckets);

// As OpenMetrics writes label values: at least one digit after the point.
std::string format_openmetrics(double v);

}  // namespace vagt::query
