#include "query/operators/numbers.h"

#include <algorithm>

namespace vagt::query {

double quantile_of_sorted(double q, std::span<const double> sorted) {
  if (sorted.empty() || std::isnan(q)) return std::nan("");
  if (q < 0) return -HUGE_VAL;
  if (q > 1) return HUGE_VAL;
  const double n = static_cast<double>(sorted.size());
  const double rank = q * (n - 1);
  const double lower = std::max(0.0, std::floor(rank));
  const double upper = std::min(n - 1, lower + 1);
  const double weight = rank - std::floor(rank);
  return sorted[static_cast<size_t>(lower)] * (1 - weight) +
         sorted[static_cast<size_t>(upper)] * weight;
}

double quantile_of(double q, std::vector<double>& values) {
  // Zeros of either sign keep their order, as in Go's sort of few values.
  std::stable_sort(values.begin(), values.end(), value_less);
  return quantile_of_sorted(q, values);
}

}  // namespace vagt::query
