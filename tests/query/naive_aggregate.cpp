#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/number_text.h"
#include "tests/query/naive_evaluator.h"
#include "tests/query/naive_labels.h"

namespace vagt::query {
namespace {

double sum_of(const std::vector<double>& v) {
  double sum = v[0], c = 0;
  for (size_t i = 1; i < v.size(); ++i) naive_kahan(v[i], sum, c);
  return sum + c;
}

double extreme_of(const std::vector<double>& v, bool largest) {
  double out = v[0];
  for (double x : v) {
    if (std::isnan(out) || (largest ? x > out : x < out)) out = x;
  }
  return out;
}

double variance_of(const std::vector<double>& v) {
  double count = 0, mean = 0, squares = 0;
  for (double x : v) {
    count += 1;
    if (count == 1) {
      mean = x;
      squares = std::isfinite(x) ? 0 : std::nan("");
      continue;
    }
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
  return squares / count;
}

// The k first by value, NaN last.
std::vector<NaiveSample> best_of(std::vector<NaiveSample> members, double k, bool largest) {
  std::stable_sort(members.begin(), members.end(),
                   [largest](const NaiveSample& a, const NaiveSample& b) {
                     if (std::isnan(a.v) || std::isnan(b.v))
                       return !std::isnan(a.v) && std::isnan(b.v);
                     return largest ? a.v > b.v : a.v < b.v;
                   });
  const auto n = static_cast<size_t>(std::max(0.0, k));
  if (n >= members.size()) return members;
  if (n > 0) {
    const double last = members[n - 1].v, next = members[n].v;
    if (last == next || (std::isnan(last) && std::isnan(next))) throw NaiveEvaluator::Unsure{};
  }
  members.resize(n);
  return members;
}

std::vector<NaiveSample> count_values(const Aggregate& aggregate,
                                      const std::vector<NaiveSample>& values) {
  const std::string& label = std::get<StringLiteral>(aggregate.param->node).value;
  std::vector<std::string> grouping = aggregate.grouping;
  if (!aggregate.without) grouping.push_back(label);
  std::map<LabelMap, double> counts;
  for (const NaiveSample& value : values) {
    LabelMap labels = value.labels;
    labels[label] = format_float(value.v);  // which `without` may take away again
    labels = signature(labels, grouping, !aggregate.without);
    counts[labels] += 1;
  }
  std::vector<NaiveSample> out;
  for (const auto& [labels, count] : counts) out.push_back({labels, count});
  return out;
}

}  // namespace

std::vector<NaiveSample> NaiveEvaluator::aggregate(const Aggregate& aggregate, int64_t t) const {
  const std::vector<NaiveSample> input = vector_at(*aggregate.expr, t);
  if (aggregate.op == AggregateOp::CountValues) return count_values(aggregate, input);
  const double parameter = aggregate.param ? scalar_at(*aggregate.param, t) : 0;
  std::map<LabelMap, std::vector<NaiveSample>> groups;
  for (const NaiveSample& value : input)
    groups[signature(value.labels, aggregate.grouping, !aggregate.without)].push_back(value);
  std::vector<NaiveSample> out;
  for (const auto& [labels, members] : groups) {
    std::vector<double> v;
    for (const NaiveSample& member : members) v.push_back(member.v);
    switch (aggregate.op) {
      case AggregateOp::Sum:
        out.push_back({labels, sum_of(v)});
        break;
      case AggregateOp::Avg:
        out.push_back({labels, naive_mean(v)});
        break;
      case AggregateOp::Min:
      case AggregateOp::Max:
        out.push_back({labels, extreme_of(v, aggregate.op == AggregateOp::Max)});
        break;
      case AggregateOp::Count:
        out.push_back({labels, static_cast<double>(v.size())});
        break;
      case AggregateOp::Group:
        out.push_back({labels, 1});
        break;
      case AggregateOp::Stddev:
        out.push_back({labels, std::sqrt(variance_of(v))});
        break;
      case AggregateOp::Stdvar:
        out.push_back({labels, variance_of(v)});
        break;
      case AggregateOp::Quantile:
        out.push_back({labels, naive_quantile(parameter, v)});
        break;
      case AggregateOp::Topk:
      case AggregateOp::Bottomk:
        for (const NaiveSample& each :
             best_of(members, parameter, aggregate.op == AggregateOp::Topk))
          out.push_back(each);
        break;
      case AggregateOp::Limitk:
        for (size_t i = 0; i < members.size() && static_cast<double>(i) < parameter; ++i)
          out.push_back(members[i]);
        break;
      default:
        throw std::logic_error("the naive evaluator has not this aggregation");
    }
  }
  return out;
}

}  // namespace vagt::query
