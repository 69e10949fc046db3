#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/query/naive_numbers.h"

namespace vagt::query {
namespace {

using Values = std::vector<double>;

// False: no value.
bool rate(const NaiveWindow& w, bool counter, bool per_second, double& out) {
  const NaiveSamples& s = w.samples;
  if (s.size() < 2) return false;
  double change = s.back().second - s[0].second;
  for (size_t i = 1; counter && i < s.size(); ++i) {
    if (s[i].second < s[i - 1].second) change += s[i - 1].second;
  }
  double to_start = static_cast<double>(s[0].first - w.start) / 1000;
  double to_end = static_cast<double>(w.end - s.back().first) / 1000;
  const double sampled = static_cast<double>(s.back().first - s[0].first) / 1000;
  const double average = sampled / static_cast<double>(s.size() - 1);
  if (to_start >= average * 1.1) to_start = average / 2;
  if (counter && change > 0 && s[0].second >= 0)
    to_start = std::min(to_start, sampled * (s[0].second / change));
  if (to_end >= average * 1.1) to_end = average / 2;
  double factor = (sampled + to_start + to_end) / sampled;
  if (per_second) factor /= static_cast<double>(w.end - w.start) / 1000;
  out = change * factor;
  return true;
}

bool last_two(const NaiveSamples& s, bool per_second, double& out) {
  if (s.size() < 2) return false;
  const auto &a = s[s.size() - 2], &b = s.back();
  out = per_second && b.second < a.second ? b.second : b.second - a.second;
  if (per_second) out /= static_cast<double>(b.first - a.first) / 1000;
  return true;
}

// Least squares over seconds from `origin`.
bool regress(const NaiveSamples& s, int64_t origin, double& slope, double& intercept) {
  if (s.size() < 2) return false;
  double x = 0, cx = 0, y = 0, cy = 0, xy = 0, cxy = 0, x2 = 0, cx2 = 0;
  bool constant = true;
  for (const auto& [t, v] : s) {
    const double seconds = static_cast<double>(t - origin) / 1e3;
    constant = constant && v == s[0].second;
    naive_kahan(seconds, x, cx);
    naive_kahan(v, y, cy);
    naive_kahan(seconds * v, xy, cxy);
    naive_kahan(seconds * seconds, x2, cx2);
  }
  if (constant) {
    slope = std::isinf(s[0].second) ? std::nan("") : 0;
    intercept = std::isinf(s[0].second) ? std::nan("") : s[0].second;
    return true;
  }
  const double n = static_cast<double>(s.size());
  x += cx, y += cy, xy += cxy, x2 += cx2;
  slope = (xy - x * y / n) / (x2 - x * x / n);
  intercept = y / n - slope * x / n;
  return true;
}

bool smooth(const NaiveSamples& s, double sf, double tf, double& out) {
  if (s.size() < 2) return false;
  double before = 0, level = s[0].second, trend = s[1].second - s[0].second;
  for (size_t i = 1; i < s.size(); ++i) {
    if (i > 1) trend = tf * (level - before) + (1 - tf) * trend;
    const double next = sf * s[i].second + (1 - sf) * (level + trend);
    before = level;
    level = next;
  }
  out = level;
  return true;
}

double deviation(const Values& v, bool root) {
  double count = 0, mean = 0, mean_c = 0, aux = 0, aux_c = 0;
  for (double x : v) {
    count += 1;
    const double d = x - (mean + mean_c);
    naive_kahan(d / count, mean, mean_c);
    naive_kahan(d * (x - (mean + mean_c)), aux, aux_c);
  }
  const double variance = (aux + aux_c) / count;
  return root ? std::sqrt(variance) : variance;
}

double median_deviation(const Values& v) {
  const double median = naive_quantile(0.5, v);
  Values apart;
  for (double x : v) {
    if (std::isnan(x)) return x;
    apart.push_back(std::abs(x - median));
  }
  return naive_quantile(0.5, apart);
}

double extreme(const Values& v, bool largest) {
  double out = v[0];
  for (double x : v) {
    if (std::isnan(out) || (largest ? x > out : x < out)) out = x;
  }
  return out;
}

double extreme_time(const NaiveSamples& s, bool largest) {
  auto best = s[0];
  for (const auto& each : s) {
    const bool as_good = largest ? each.second >= best.second : each.second <= best.second;
    if (as_good || std::isnan(best.second)) best = each;
  }
  return static_cast<double>(best.first) / 1000;
}

double neighbours(const Values& v, bool resets) {
  double out = 0;
  for (size_t i = 1; i < v.size(); ++i) {
    const bool both_nan = std::isnan(v[i]) && std::isnan(v[i - 1]);
    if (resets ? v[i] < v[i - 1] : v[i] != v[i - 1] && !both_nan) out += 1;
  }
  return out;
}

double sum(const Values& v) {
  double sum = 0, c = 0;
  for (double x : v) naive_kahan(x, sum, c);
  return std::isinf(sum) ? sum : sum + c;
}

}  // namespace

bool naive_window_value(const std::string& name, const NaiveWindow& w, double& out) {
  const NaiveSamples& s = w.samples;
  Values v;
  for (const auto& sample : s) v.push_back(sample.second);
  double slope = 0, intercept = 0;
  if (name == "rate") return rate(w, true, true, out);
  if (name == "increase") return rate(w, true, false, out);
  if (name == "delta") return rate(w, false, false, out);
  if (name == "irate" || name == "idelta") return last_two(s, name == "irate", out);
  if (name == "deriv") return regress(s, s[0].first, out, intercept);
  if (name == "predict_linear") {
    if (!regress(s, w.step, slope, intercept)) return false;
    out = slope * w.arguments.at(0) + intercept;
    return true;
  }
  if (name == "double_exponential_smoothing")
    return smooth(s, w.arguments.at(0), w.arguments.at(1), out);
  if (name == "sum_over_time")
    out = sum(v);
  else if (name == "avg_over_time")
    out = naive_mean(v);
  else if (name == "count_over_time")
    out = static_cast<double>(v.size());
  else if (name == "last_over_time")
    out = v.back();
  else if (name == "first_over_time")
    out = v.front();
  else if (name == "present_over_time")
    out = 1;
  else if (name == "min_over_time")
    out = extreme(v, false);
  else if (name == "max_over_time")
    out = extreme(v, true);
  else if (name == "ts_of_min_over_time")
    out = extreme_time(s, false);
  else if (name == "ts_of_max_over_time")
    out = extreme_time(s, true);
  else if (name == "ts_of_first_over_time")
    out = static_cast<double>(s.front().first) / 1000;
  else if (name == "ts_of_last_over_time")
    out = static_cast<double>(s.back().first) / 1000;
  else if (name == "quantile_over_time")
    out = naive_quantile(w.arguments.at(0), v);
  else if (name == "mad_over_time")
    out = median_deviation(v);
  else if (name == "stddev_over_time")
    out = deviation(v, true);
  else if (name == "stdvar_over_time")
    out = deviation(v, false);
  else if (name == "changes")
    out = neighbours(v, false);
  else if (name == "resets")
    out = neighbours(v, true);
  else
    throw std::logic_error("the naive evaluator has no " + name);
  return true;
}

}  // namespace vagt::query
