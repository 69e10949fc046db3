#include "tests/query/naive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "query/functions.h"
#include "query/operators/numbers.h"
#include "tests/query/naive_labels.h"

namespace vagt::query {
namespace {

using Samples = NaiveSamples;

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
    case BinaryOp::Pow:
      return go_pow(a, b);
    case BinaryOp::Atan2:
      return std::atan2(a, b);
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

LabelMap joined_labels(const Binary& binary, LabelMap labels, const LabelMap& other) {
  const VectorMatching& m = *binary.matching;
  if (!is_comparison(binary.op) || binary.return_bool) labels.erase("__name__");
  if (m.card == VectorMatching::Card::OneToOne) {
    LabelMap kept;
    for (const auto& [name, text] : labels) {
      const bool listed = std::find(m.labels.begin(), m.labels.end(), name) != m.labels.end();
      if (listed == m.on) kept[name] = text;
    }
    labels = kept;
  }
  for (const std::string& name : m.include) {
    labels.erase(name);
    if (other.count(name)) labels[name] = other.at(name);
  }
  return labels;
}

}  // namespace

int64_t NaiveEvaluator::moved(const TimeShift& shift, int64_t t) const {
  if (shift.at == TimeShift::At::Fixed) t = to_millis(shift.at_time);
  if (shift.at == TimeShift::At::Start) t = start_;
  if (shift.at == TimeShift::At::End) t = end_;
  return t - shift.offset.count();
}

std::vector<NaiveSample> NaiveEvaluator::select(const VectorSelector& selector, int64_t t,
                                                bool times) const {
  const int64_t at = moved(selector.shift, t);
  std::vector<NaiveSample> out;
  for (const NaiveSeries& series : series_) {
    if (!matches_all(selector.matchers, Labels::from_map(series.labels))) continue;
    const std::pair<int64_t, double>* last = nullptr;
    for (const auto& sample : series.samples) {
      if (sample.first <= at && sample.first > at - lookback_) last = &sample;
    }
    if (last == nullptr || is_stale(last->second)) continue;
    out.push_back({series.labels, times ? static_cast<double>(last->first) / 1000 : last->second});
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

std::vector<NaiveSample> NaiveEvaluator::join(const Binary& binary,
                                              const std::vector<NaiveSample>& left,
                                              const std::vector<NaiveSample>& right_side) const {
  const VectorMatching& m = *binary.matching;
  const bool swapped = m.card == VectorMatching::Card::OneToMany;
  const std::vector<NaiveSample>&lhs = swapped ? right_side : left,
        &rhs = swapped ? left : right_side;
  std::vector<NaiveSample> out;
  if ((lhs.empty() && !m.fill_lhs) || (rhs.empty() && !m.fill_rhs)) return out;
  std::map<LabelMap, NaiveSample> right;
  for (const NaiveSample& value : rhs) {
    if (!right.emplace(signature(value.labels, m.labels, m.on), value).second) throw Failed{};
  }
  std::set<LabelMap> matched;
  std::set<std::pair<LabelMap, LabelMap>> made;
  const bool one = m.card == VectorMatching::Card::OneToOne;
  const auto combine = [&](const NaiveSample& many, const NaiveSample& other, const LabelMap& sig) {
    const double x = swapped ? other.v : many.v, y = swapped ? many.v : other.v;
    const bool holds = operate(binary.op, x, y) != 0;
    const bool compares = is_comparison(binary.op);
    LabelMap labels = joined_labels(binary, many.labels, other.labels);
    if (!one && !made.insert({sig, labels}).second) throw Failed{};
    if (compares && !binary.return_bool && !holds) return;
    const double v = compares ? (binary.return_bool ? holds : x) : operate(binary.op, x, y);
    out.push_back({std::move(labels), v});
  };
  for (const NaiveSample& value : lhs) {
    const LabelMap sig = signature(value.labels, m.labels, m.on);
    const auto found = right.find(sig);
    if (found == right.end() && !m.fill_rhs) continue;
    if (one && !matched.insert(sig).second) throw Failed{};
    combine(value, found != right.end() ? found->second : NaiveSample{sig, *m.fill_rhs}, sig);
  }
  for (const auto& [sig, value] : right) {
    if (m.fill_lhs && matched.count(sig) == 0) combine({sig, *m.fill_lhs}, value, sig);
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
