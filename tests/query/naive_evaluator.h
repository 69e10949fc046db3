// PromQL once more, as slowly and plainly as possible: step by step, label maps, every window from
// scratch. Operators are held against it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "query/ast.h"
#include "query/value.h"

namespace vagt::query {

using LabelMap = std::map<std::string, std::string>;
struct NaiveSeries {
  LabelMap labels;
  std::vector<std::pair<int64_t, double>> samples;  // milliseconds, stale markers included
};

struct NaiveSample {
  LabelMap labels;
  double v;
};

class NaiveEvaluator {
 public:
  NaiveEvaluator(std::vector<NaiveSeries> series, int64_t lookback_ms)
      : series_(std::move(series)), lookback_(lookback_ms) {}

  struct Failed {};  // thrown where Prometheus has an error
  std::vector<NaiveSample> vector_at(const Expr& expr, int64_t t) const;
  double scalar_at(const Expr& expr, int64_t t) const;

 private:
  struct Range {
    LabelMap labels;
    std::vector<std::pair<int64_t, double>> samples;
  };
  std::vector<NaiveSample> select(const VectorSelector& selector, int64_t t) const;
  std::vector<Range> ranges_at(const Expr& expr, int64_t t, int64_t& range_ms, int64_t& end) const;
  std::vector<NaiveSample> call(const Call& call, int64_t t) const;
  std::vector<NaiveSample> aggregate(const Aggregate& aggregate, int64_t t) const;
  std::vector<NaiveSample> binary(const Binary& binary, int64_t t) const;
  std::vector<NaiveSample> join(const Binary& binary, const std::vector<NaiveSample>& lhs,
                                const std::vector<NaiveSample>& rhs) const;

  const std::vector<NaiveSeries> series_;
  const int64_t lookback_;
};

}  // namespace vagt::query
