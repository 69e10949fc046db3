// PromQL once more, as slowly and plainly as possible: step by step, label maps, every window from
// scratch. Operators are held against it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "query/ast.h"
#include "query/value.h"
#include "tests/query/naive_numbers.h"

namespace vagt::query {

using LabelMap = std::map<std::string, std::string>;
struct NaiveSeries {
  LabelMap labels;
  NaiveSamples samples;  // milliseconds, stale markers included
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
  struct Unsure {};  // thrown where the language leaves open what comes out: ties of topk
  // What start() and end() are.
  void set_range(int64_t start, int64_t end) {
    start_ = start;
    end_ = end;
  }
  std::vector<NaiveSample> vector_at(const Expr& expr, int64_t t) const;
  double scalar_at(const Expr& expr, int64_t t) const;

 private:
  struct Range {
    LabelMap labels;
    NaiveSamples samples;
  };
  int64_t moved(const TimeShift& shift, int64_t t) const;
  // With `times` when the samples were, in seconds, instead of their values.
  std::vector<NaiveSample> select(const VectorSelector& selector, int64_t t,
                                  bool times = false) const;
  std::vector<Range> ranges_at(const Expr& expr, int64_t t, int64_t& range_ms, int64_t& end) const;
  std::vector<NaiveSample> call(const Call& call, int64_t t) const;
  std::vector<NaiveSample> range_call(const Call& call, const Expr& range, int64_t t) const;
  std::vector<NaiveSample> label_call(const Call& call, int64_t t) const;
  std::vector<NaiveSample> bucket_call(const Call& call, int64_t t) const;
  std::vector<NaiveSample> aggregate(const Aggregate& aggregate, int64_t t) const;
  std::vector<NaiveSample> binary(const Binary& binary, int64_t t) const;
  std::vector<NaiveSample> join(const Binary& binary, const std::vector<NaiveSample>& lhs,
                                const std::vector<NaiveSample>& rhs) const;

  const std::vector<NaiveSeries> series_;
  const int64_t lookback_;
  int64_t start_ = 0, end_ = 0;
};

}  // namespace vagt::query
