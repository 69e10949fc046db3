#include "tests/query/naive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "query/functions.h"

namespace vagt::query {
namespace {

using Samples = std::vector<std::pair<int64_t, double>>;

const Expr& inside(const Expr& expr) {
  const auto* paren = std::get_if<Paren>(&expr.node);
  return paren == nullptr ? expr : inside(*paren->expr);
}

void kahan(double inc, double& sum, double& c) {
  const double t = sum + inc;
  if (std::isinf(t)) {
    c = 0;
  } else if (std::abs(sum) >= std::abs(inc)) {
    c += (sum - t) + inc;
  } else {
    c += (inc - t) + sum;
  }
  sum = t;
}

double kahan_mean(const std::vector<double>& v) {
  double sum = v[0], c = 0, mean = 0;
  bool incremental = false;
  for (size_t i = 1; i < v.size(); ++i) {
    const double count = static_cast<double>(i + 1);
    if (!incremental) {
      double next = sum, next_c = c;
      kahan(v[i], next, next_c);
      if (!std::isinf(next)) {
        sum = next;
        c = next_c;
        continue;
      }
      incremental = true;
      mean = sum / (count - 1);
      c /= count - 1;
    }
    const double q = (count - 1) / count;
    mean *= q;
    c *= q;
    kahan(v[i] / count, mean, c);
  }
  const double n = static_cast<double>(v.size());
  return incremental ? mean + c : sum / n + c / n;
}

double quantile(double q, std::vector<double> v) {
  if (v.empty() || std::isnan(q)) return std::nan("");
  if (q < 0) return -HUGE_VAL;
  if (q > 1) return HUGE_VAL;
  std::stable_sort(v.begin(), v.end(),
                   [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
  const double n = static_cast<double>(v.size()), rank = q * (n - 1);
  const double low = std::max(0.0, std::floor(rank)), high = std::min(n - 1, low + 1);
  const double w = rank - std::floor(rank);
  return v[static_cast<size_t>(low)] * (1 - w) + v[static_cast<size_t>(high)] * w;
}

// False: no value.
bool rate(const Samples& s, int64_t start, int64_t end, bool counter, bool per_second,
          double& out) {
  if (s.size() < 2) return false;
  double change = s.back().second - s[0].second;
  for (size_t i = 1; counter && i < s.size(); ++i) {
    if (s[i].second < s[i - 1].second) change += s[i - 1].second;
  }
  double to_start = static_cast<double>(s[0].first - start) / 1000;
  double to_end = static_cast<double>(end - s.back().first) / 1000;
  const double sampled = static_cast<double>(s.back().first - s[0].first) / 1000;
  const double average = sampled / static_cast<double>(s.size() - 1);
  if (to_start >= average * 1.1) to_start = average / 2;
  if (counter && change > 0 && s[0].second >= 0)
    to_start = std::min(to_start, sampled * (s[0].second / change));
  if (to_end >= average * 1.1) to_end = average / 2;
  double factor = (sampled + to_start + to_end) / sampled;
  if (per_second) factor /= static_cast<double>(end - start) / 1000;
  out = change * factor;
  return true;
}

bool window_value(const std::string& name, const Samples& s, int64_t start, int64_t end,
                  double argument, double& out) {
  std::vector<double> v;
  for (const auto& sample : s) v.push_back(sample.second);
  if (name == "rate") return rate(s, start, end, true, true, out);
  if (name == "increase") return rate(s, start, end, true, false, out);
  if (name == "delta") return rate(s, start, end, false, false, out);
  if (name == "irate" || name == "idelta") {
    if (s.size() < 2) return false;
    const auto &a = s[s.size() - 2], &b = s.back();
    const bool per_second = name == "irate";
    out = per_second && b.second < a.second ? b.second : b.second - a.second;
    if (per_second) out /= static_cast<double>(b.first - a.first) / 1000;
    return true;
  }
  if (name == "sum_over_time") {
    double sum = 0, c = 0;
    for (double x : v) kahan(x, sum, c);
    out = std::isinf(sum) ? sum : sum + c;
  } else if (name == "avg_over_time") {
    out = kahan_mean(v);
  } else if (name == "count_over_time") {
    out = static_cast<double>(v.size());
  } else if (name == "last_over_time") {
    out = v.back();
  } else if (name == "first_over_time") {
    out = v.front();
  } else if (name == "present_over_time") {
    out = 1;
  } else if (name == "min_over_time" || name == "max_over_time") {
    out = v[0];
    for (double x : v) {
      if (std::isnan(out) || (name == "min_over_time" ? x < out : x > out)) out = x;
    }
  } else if (name == "quantile_over_time") {
    out = quantile(argument, v);
  } else if (name == "stddev_over_time" || name == "stdvar_over_time") {
    double count = 0, mean = 0, mean_c = 0, aux = 0, aux_c = 0;
    for (double x : v) {
      count += 1;
      const double d = x - (mean + mean_c);
      kahan(d / count, mean, mean_c);
      kahan(d * (x - (mean + mean_c)), aux, aux_c);
    }
    out = (aux + aux_c) / count;
    if (name == "stddev_over_time") out = std::sqrt(out);
  } else if (name == "changes" || name == "resets") {
    out = 0;
    for (size_t i = 1; i < v.size(); ++i) {
      const bool both_nan = std::isnan(v[i]) && std::isnan(v[i - 1]);
      if (name == "changes" ? v[i] != v[i - 1] && !both_nan : v[i] < v[i - 1]) out += 1;
    }
  } else {
    throw std::logic_error("the naive evaluator has no " + name);
  }
  return true;
}

LabelMap nameless(LabelMap labels) {
  labels.erase("__name__");
  return labels;
}

LabelMap signature(const LabelMap& labels, const std::vector<std::string>& names, bool keep) {
  LabelMap out;
  for (const auto& [name, value] : labels) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (keep ? listed : !listed && name != "__name__") out[name] = value;
  }
  return out;
}

void check_unique(const std::vector<NaiveSample>& values) {
  std::set<LabelMap> seen;
  for (const NaiveSample& value : values) {
    if (!seen.insert(value.labels).second) throw NaiveEvaluator::Failed{};
  }
}

int64_t moved(const TimeShift& shift, int64_t t) {
  if (shift.at == TimeShift::At::Fixed) t = to_millis(shift.at_time);
  return t - shift.offset.count();
}

double operate(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Mod:
      return std::fmod(a, b);
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::Le:
      return a <= b;
    default:
      throw std::logic_error("the naive evaluator has not this operator");
  }
}

}  // namespace

std::vector<NaiveSample> NaiveEvaluator::select(const VectorSelector& selector, int64_t t) const {
  const int64_t at = moved(selector.shift, t);
  std::vector<NaiveSample> out;
  for (const NaiveSeries& series : series_) {
    if (!matches_all(selector.matchers, Labels::from_map(series.labels))) continue;
    const std::pair<int64_t, double>* last = nullptr;
    for (const auto& sample : series.samples) {
      if (sample.first <= at && sample.first > at - lookback_) last = &sample;
    }
    if (last != nullptr && !is_stale(last->second)) out.push_back({series.labels, last->second});
  }
  return out;
}

std::vector<NaiveEvaluator::Range> NaiveEvaluator::ranges_at(const Expr& expr, int64_t t,
                                                             int64_t& range_ms,
                                                             int64_t& end) const {
  std::vector<Range> out;
  if (const auto* matrix = std::get_if<MatrixSelector>(&expr.node)) {
    const auto& selector = std::get<VectorSelector>(inside(*matrix->vector).node);
    range_ms = matrix->range.count();
    end = moved(selector.shift, t);
    for (const NaiveSeries& series : series_) {
      if (!matches_all(selector.matchers, Labels::from_map(series.labels))) continue;
      Range range{series.labels, {}};
      for (const auto& s : series.samples) {
        if (s.first > end - range_ms && s.first <= end && !is_stale(s.second))
          range.samples.push_back(s);
      }
      if (!range.samples.empty()) out.push_back(std::move(range));
    }
    return out;
  }
  const auto& subquery = std::get<Subquery>(expr.node);
  range_ms = subquery.range.count();
  end = moved(subquery.shift, t);
  const int64_t step = subquery.step.count() == 0 ? 60'000 : subquery.step.count();
  std::map<LabelMap, Samples> rows;
  for (int64_t at = end - range_ms - step * 2; at <= end; ++at) {
    if (at <= end - range_ms) continue;
    const int64_t rest = ((at % step) + step) % step;
    if (rest != 0) {
      at += step - rest - 1;
      continue;
    }
    for (const NaiveSample& value : vector_at(*subquery.expr, at))
      rows[value.labels].push_back({at, value.v});
  }
  for (auto& [labels, samples] : rows) out.push_back({labels, std::move(samples)});
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::call(const Call& call, int64_t t) const {
  const std::string name(call.function->name);
  std::vector<NaiveSample> out;
  double argument = 0;
  const Expr* range = nullptr;
  for (const ExprPtr& arg : call.args) {
    if (arg->type == ValueType::Matrix) range = &inside(*arg);
    if (arg->type == ValueType::Scalar) argument = scalar_at(*arg, t);
  }
  if (range != nullptr) {
    int64_t range_ms = 0, end = 0;
    const bool keeps = name == "last_over_time" || name == "first_over_time";
    for (const Range& r : ranges_at(*range, t, range_ms, end)) {
      double v = 0;
      if (window_value(name, r.samples, end - range_ms, end, argument, v))
        out.push_back({keeps ? r.labels : nameless(r.labels), v});
    }
    check_unique(out);
    return out;
  }
  if (name == "vector") return {{{}, argument}};
  for (const NaiveSample& value : vector_at(*call.args[0], t)) {
    double v = value.v;
    if (name == "abs") {
      v = std::abs(v);
    } else if (name == "ceil") {
      v = std::ceil(v);
    } else if (name == "clamp_min") {
      v = std::isnan(v) ? v : std::max(v, argument);
    } else if (name == "timestamp") {
      throw std::logic_error("not generated");
    }
    out.push_back({nameless(value.labels), v});
  }
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::aggregate(const Aggregate& aggregate, int64_t t) const {
  std::map<LabelMap, std::vector<NaiveSample>> groups;
  for (const NaiveSample& value : vector_at(*aggregate.expr, t))
    groups[signature(value.labels, aggregate.grouping, !aggregate.without)].push_back(value);
  std::vector<NaiveSample> out;
  for (const auto& [labels, members] : groups) {
    std::vector<double> v;
    for (const NaiveSample& member : members) v.push_back(member.v);
    double result = 0;
    switch (aggregate.op) {
      case AggregateOp::Sum: {
        double sum = v[0], c = 0;
        for (size_t i = 1; i < v.size(); ++i) kahan(v[i], sum, c);
        result = sum + c;
        break;
      }
      case AggregateOp::Avg:
        result = kahan_mean(v);
        break;
      case AggregateOp::Min:
      case AggregateOp::Max:
        result = v[0];
        for (double x : v) {
          if (std::isnan(result) || (aggregate.op == AggregateOp::Min ? x < result : x > result))
            result = x;
        }
        break;
      case AggregateOp::Count:
        result = static_cast<double>(v.size());
        break;
      case AggregateOp::Group:
        result = 1;
        break;
      case AggregateOp::Quantile:
        result = quantile(scalar_at(*aggregate.param, t), v);
        break;
      case AggregateOp::Topk: {
        const double k = scalar_at(*aggregate.param, t);
        std::vector<NaiveSample> sorted = members;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const NaiveSample& a, const NaiveSample& b) {
                           if (std::isnan(a.v) || std::isnan(b.v))
                             return !std::isnan(a.v) && std::isnan(b.v);
                           return a.v > b.v;
                         });
        for (size_t i = 0; i < sorted.size() && static_cast<double>(i) + 1 <= k; ++i)
          out.push_back(sorted[i]);
        continue;
      }
      default:
        throw std::logic_error("the naive evaluator has not this aggregation");
    }
    out.push_back({labels, result});
  }
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::join(const Binary& binary,
                                              const std::vector<NaiveSample>& left,
                                              const std::vector<NaiveSample>& right_side) const {
  const VectorMatching& m = *binary.matching;
  const bool swapped = m.card == VectorMatching::Card::OneToMany;
  const std::vector<NaiveSample>&lhs = swapped ? right_side : left,
        &rhs = swapped ? left : right_side;
  std::vector<NaiveSample> out;
  if (lhs.empty() || rhs.empty()) return out;
  std::map<LabelMap, NaiveSample> right;
  for (const NaiveSample& value : rhs) {
    if (!right.emplace(signature(value.labels, m.labels, m.on), value).second) throw Failed{};
  }
  std::set<LabelMap> matched;
  std::set<std::pair<LabelMap, LabelMap>> made;
  for (const NaiveSample& value : lhs) {
    const LabelMap sig = signature(value.labels, m.labels, m.on);
    const auto found = right.find(sig);
    if (found == right.end()) continue;
    const bool one = m.card == VectorMatching::Card::OneToOne;
    if (one && !matched.insert(sig).second) throw Failed{};
    const double x = swapped ? found->second.v : value.v, y = swapped ? value.v : found->second.v;
    const bool holds = operate(binary.op, x, y) != 0;
    const bool compares = is_comparison(binary.op);
    LabelMap labels = value.labels;
    if (!compares || binary.return_bool) labels.erase("__name__");
    if (one) {
      LabelMap kept;
      for (const auto& [name, text] : labels) {
        const bool listed = std::find(m.labels.begin(), m.labels.end(), name) != m.labels.end();
        if (listed == m.on) kept[name] = text;
      }
      labels = kept;
    }
    for (const std::string& name : m.include) {
      labels.erase(name);
      if (found->second.labels.count(name)) labels[name] = found->second.labels.at(name);
    }
    if (!one && !made.insert({sig, labels}).second) throw Failed{};
    if (compares && !binary.return_bool && !holds) continue;
    const double v = compares ? (binary.return_bool ? holds : x) : operate(binary.op, x, y);
    out.push_back({labels, v});
  }
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::binary(const Binary& binary, int64_t t) const {
  const bool scalar_left = binary.lhs->type == ValueType::Scalar;
  if (scalar_left || binary.rhs->type == ValueType::Scalar) {
    const double s = scalar_at(scalar_left ? *binary.lhs : *binary.rhs, t);
    std::vector<NaiveSample> out;
    for (NaiveSample& value : vector_at(scalar_left ? *binary.rhs : *binary.lhs, t)) {
      const double v = operate(binary.op, scalar_left ? s : value.v, scalar_left ? value.v : s);
      if (is_comparison(binary.op) && !binary.return_bool) {
        if (v != 0) out.push_back(value);
      } else {
        out.push_back({nameless(value.labels), v});
      }
    }
    check_unique(out);
    return out;
  }
  const std::vector<NaiveSample> lhs = vector_at(*binary.lhs, t), rhs = vector_at(*binary.rhs, t);
  if (!is_set_operator(binary.op)) return join(binary, lhs, rhs);
  const VectorMatching& m = *binary.matching;
  const bool is_or = binary.op == BinaryOp::Or;
  std::set<LabelMap> other;
  for (const NaiveSample& value : is_or ? lhs : rhs)
    other.insert(signature(value.labels, m.labels, m.on));
  std::vector<NaiveSample> out = is_or ? lhs : std::vector<NaiveSample>();
  for (const NaiveSample& value : is_or ? rhs : lhs) {
    const bool there = other.count(signature(value.labels, m.labels, m.on)) > 0;
    if (there == (binary.op == BinaryOp::And)) out.push_back(value);
  }
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::vector_at(const Expr& expr, int64_t t) const {
  const Expr& e = inside(expr);
  if (const auto* selector = std::get_if<VectorSelector>(&e.node)) return select(*selector, t);
  if (const auto* c = std::get_if<Call>(&e.node)) return call(*c, t);
  if (const auto* a = std::get_if<Aggregate>(&e.node)) return aggregate(*a, t);
  if (const auto* b = std::get_if<Binary>(&e.node)) return binary(*b, t);
  const auto& unary = std::get<Unary>(e.node);
  std::vector<NaiveSample> out = vector_at(*unary.expr, t);
  if (!unary.negate) return out;
  for (NaiveSample& value : out) value = {nameless(value.labels), -value.v};
  check_unique(out);
  return out;
}

double NaiveEvaluator::scalar_at(const Expr& expr, int64_t t) const {
  const Expr& e = inside(expr);
  if (const auto* number = std::get_if<NumberLiteral>(&e.node)) return number->value;
  if (const auto* unary = std::get_if<Unary>(&e.node))
    return unary->negate ? -scalar_at(*unary->expr, t) : scalar_at(*unary->expr, t);
  if (const auto* b = std::get_if<Binary>(&e.node))
    return operate(b->op, scalar_at(*b->lhs, t), scalar_at(*b->rhs, t));
  const auto& c = std::get<Call>(e.node);
  if (c.function->name == "time") return static_cast<double>(t) / 1000;
  const std::vector<NaiveSample> values = vector_at(*c.args[0], t);  // scalar()
  return values.size() == 1 ? values[0].v : std::nan("");
}

}  // namespace vagt::query
