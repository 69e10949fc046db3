#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>

#include "base/number_text.h"
#include "query/functions.h"
#include "tests/query/naive_evaluator.h"
#include "tests/query/naive_labels.h"

namespace vagt::query {
namespace {

const std::string& string_of(const ExprPtr& expr) {
  return std::get<StringLiteral>(inside(*expr).node).value;
}

void set_label(LabelMap& labels, const std::string& name, const std::string& value) {
  if (value.empty()) {
    labels.erase(name);
  } else {
    labels[name] = value;
  }
}
std::string label_of(const LabelMap& labels, const std::string& name) {
  const auto it = labels.find(name);
  return it == labels.end() ? "" : it->second;
}

// $1 and ${1} of a match; what is generated has no other references.
std::string expand(const std::string& pattern, const std::smatch& match) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      out += pattern[i];
      continue;
    }
    const bool braced = pattern.at(i + 1) == '{';
    const auto group = static_cast<size_t>(pattern.at(i + (braced ? 2 : 1)) - '0');
    if (group < match.size()) out += match[group].str();
    i += braced ? 3 : 1;
  }
  return out;
}

// What absent() says of labels: those that the selector fixes.
LabelMap fixed_labels(const Expr& argument) {
  const Expr* selector = &inside(argument);
  if (const auto* matrix = std::get_if<MatrixSelector>(&selector->node))
    selector = &inside(*matrix->vector);
  const auto* vector = std::get_if<VectorSelector>(&selector->node);
  LabelMap out;
  if (vector == nullptr) return out;
  std::set<std::string> seen;
  for (const Matcher& m : vector->matchers) {
    if (m.name() == "__name__") continue;
    if (m.op() == MatchOp::Equal && seen.count(m.name()) == 0) {
      set_label(out, m.name(), m.value());
    } else {
      out.erase(m.name());
    }
    seen.insert(m.name());
  }
  return out;
}

}  // namespace

std::vector<NaiveSample> NaiveEvaluator::range_call(const Call& call, const Expr& range,
                                                    int64_t t) const {
  const std::string name(call.function->name);
  int64_t range_ms = 0, end = 0;
  const std::vector<Range> ranges = ranges_at(range, t, range_ms, end);
  if (name == "absent_over_time") {
    if (!ranges.empty()) return {};
    return {{fixed_labels(range), 1}};
  }
  NaiveWindow window;
  window.start = end - range_ms;
  window.end = end;
  window.step = t;
  for (const ExprPtr& arg : call.args) {
    if (arg->type == ValueType::Scalar) window.arguments.push_back(scalar_at(*arg, t));
  }
  const bool keeps = name == "last_over_time" || name == "first_over_time";
  std::vector<NaiveSample> out;
  for (const Range& r : ranges) {
    window.samples = r.samples;
    double v = 0;
    if (naive_window_value(name, window, v))
      out.push_back({keeps ? r.labels : nameless(r.labels), v});
  }
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::label_call(const Call& call, int64_t t) const {
  std::vector<NaiveSample> out = vector_at(*call.args[0], t);
  const std::string& target = string_of(call.args[1]);
  for (NaiveSample& sample : out) {
    if (call.function->name == "label_join") {
      std::string joined;
      for (size_t i = 3; i < call.args.size(); ++i)
        joined += (i > 3 ? string_of(call.args[2]) : "") +
                  label_of(sample.labels, string_of(call.args[i]));
      set_label(sample.labels, target, joined);
      continue;
    }
    const std::string from = label_of(sample.labels, string_of(call.args[3]));
    std::smatch match;
    if (std::regex_match(from, match, std::regex(string_of(call.args[4]))))
      set_label(sample.labels, target, expand(string_of(call.args[2]), match));
  }
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::bucket_call(const Call& call, int64_t t) const {
  const double q = scalar_at(*call.args[0], t);
  std::map<LabelMap, std::vector<std::pair<double, double>>> histograms;
  for (const NaiveSample& sample : vector_at(*call.args[1], t)) {
    LabelMap labels = sample.labels;
    const std::optional<double> upper = parse_float(label_of(labels, "le"));
    labels.erase("le");
    if (upper) histograms[labels].emplace_back(*upper, sample.v);
  }
  std::vector<NaiveSample> out;
  for (const auto& [labels, buckets] : histograms)
    out.push_back({nameless(labels), naive_bucket_quantile(q, buckets)});
  check_unique(out);
  return out;
}

std::vector<NaiveSample> NaiveEvaluator::call(const Call& call, int64_t t) const {
  const std::string name(call.function->name);
  for (const ExprPtr& arg : call.args) {
    if (arg->type == ValueType::Matrix) return range_call(call, inside(*arg), t);
  }
  if (name == "vector") return {{{}, scalar_at(*call.args[0], t)}};
  if (name == "label_replace" || name == "label_join") return label_call(call, t);
  if (name == "histogram_quantile") return bucket_call(call, t);
  if (name == "sort" || name == "sort_desc") return vector_at(*call.args[0], t);
  if (name == "absent") {
    if (!vector_at(*call.args[0], t).empty()) return {};
    return {{fixed_labels(*call.args[0]), 1}};
  }
  const auto* selector = std::get_if<VectorSelector>(&call.args[0]->node);
  const bool times = name == "timestamp";
  std::vector<NaiveSample> out;
  for (const NaiveSample& value :
       times&& selector != nullptr ? select(*selector, t, true) : vector_at(*call.args[0], t)) {
    const auto argument = [&](size_t i) { return scalar_at(*call.args.at(i), t); };
    double v = value.v;
    if (times) {
      if (selector == nullptr) v = static_cast<double>(t) / 1000;
    } else if (name == "clamp_min") {
      v = naive_max(argument(1), v);
    } else if (name == "clamp_max") {
      v = naive_min(argument(1), v);
    } else if (name == "clamp") {
      if (argument(2) < argument(1)) continue;
      v = naive_max(argument(1), naive_min(argument(2), v));
    } else if (name == "round") {
      const double inverse = 1.0 / (call.args.size() > 1 ? argument(1) : 1.0);
      v = std::floor(v * inverse + 0.5) / inverse;
    } else if (!naive_number_function(name, value.v, v) && !naive_date_function(name, value.v, v)) {
      throw std::logic_error("the naive evaluator has no " + name);
    }
    out.push_back({nameless(value.labels), v});
  }
  check_unique(out);
  return out;
}

}  // namespace vagt::query
