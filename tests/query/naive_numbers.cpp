#include "tests/query/naive_numbers.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <ctime>

#include "query/operators/numbers.h"

namespace vagt::query {

void naive_kahan(double inc, double& sum, double& c) {
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

double naive_mean(const std::vector<double>& v) {
  double sum = v[0], c = 0, mean = 0;
  bool incremental = false;
  for (size_t i = 1; i < v.size(); ++i) {
    const double count = static_cast<double>(i + 1);
    if (!incremental) {
      double next = sum, next_c = c;
      naive_kahan(v[i], next, next_c);
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
    naive_kahan(v[i] / count, mean, c);
  }
  const double n = static_cast<double>(v.size());
  return incremental ? mean + c : sum / n + c / n;
}

double naive_quantile(double q, std::vector<double> v) {
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

namespace {

bool almost_equal(double a, double b, double epsilon) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  const double sum = std::abs(a) + std::abs(b), apart = std::abs(a - b);
  if (a == 0 || b == 0 || sum < DBL_MIN) return apart < epsilon * DBL_MIN;
  return apart / std::min(sum, DBL_MAX) < epsilon;
}

void make_monotonic(std::vector<std::pair<double, double>>& buckets) {
  double before = buckets[0].second;
  for (auto& [upper, count] : buckets) {
    if (almost_equal(before, count, 1e-12) || count < before) {
      count = before;
    } else {
      before = count;
    }
  }
}

}  // namespace

double naive_bucket_quantile(double q, std::vector<std::pair<double, double>> buckets) {
  if (std::isnan(q)) return q;
  if (q < 0) return -HUGE_VAL;
  if (q > 1) return HUGE_VAL;
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (buckets.back().first != HUGE_VAL) return std::nan("");
  make_monotonic(buckets);
  const size_t last = buckets.size() - 1;
  const double observations = buckets[last].second;
  if (last == 0 || observations == 0 || std::isnan(observations)) return std::nan("");
  double rank = q * observations;
  // Halving, as Go's sort.Search does: among NaN counts it matters where one looks.
  size_t b = 0;
  for (size_t end = last; b < end;) {
    const size_t middle = (b + end) / 2;
    if (buckets[middle].second >= rank) {
      end = middle;
    } else {
      b = middle + 1;
    }
  }
  if (b == last) return buckets[last - 1].first;
  if (b == 0 && buckets[0].first <= 0) return buckets[0].first;
  double low = 0, count = buckets[b].second;
  if (b > 0) {
    low = buckets[b - 1].first;
    count -= buckets[b - 1].second;
    rank -= buckets[b - 1].second;
  }
  return low + (buckets[b].first - low) * (rank / count);
}

double naive_min(double a, double b) {
  if (a == -HUGE_VAL || b == -HUGE_VAL) return -HUGE_VAL;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double naive_max(double a, double b) {
  if (a == HUGE_VAL || b == HUGE_VAL) return HUGE_VAL;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

bool naive_number_function(const std::string& name, double v, double& out) {
  constexpr double kPi = 3.14159265358979323846;
  if (name == "abs")
    out = std::abs(v);
  else if (name == "ceil")
    out = std::ceil(v);
  else if (name == "floor")
    out = std::floor(v);
  else if (name == "exp")
    out = std::exp(v);
  else if (name == "ln")
    out = go_log(v);
  else if (name == "log2")
    out = go_log2(v);
  else if (name == "log10")
    out = go_log10(v);
  else if (name == "sqrt")
    out = std::sqrt(v);
  else if (name == "sgn")
    out = v < 0 ? -1 : v > 0 ? 1 : v;
  else if (name == "sin")
    out = std::sin(v);
  else if (name == "cos")
    out = std::cos(v);
  else if (name == "tan")
    out = std::tan(v);
  else if (name == "asin")
    out = std::asin(v);
  else if (name == "acos")
    out = std::acos(v);
  else if (name == "atan")
    out = std::atan(v);
  else if (name == "sinh")
    out = std::sinh(v);
  else if (name == "cosh")
    out = std::cosh(v);
  else if (name == "tanh")
    out = std::tanh(v);
  else if (name == "asinh")
    out = std::asinh(v);
  else if (name == "acosh")
    out = std::acosh(v);
  else if (name == "atanh")
    out = std::atanh(v);
  else if (name == "deg")
    out = v * 180 / kPi;
  else if (name == "rad")
    out = v * kPi / 180;
  else
    return false;
  return true;
}

bool naive_date_function(const std::string& name, double seconds, double& out) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm at{};
  gmtime_r(&whole, &at);
  if (name == "minute")
    out = at.tm_min;
  else if (name == "hour")
    out = at.tm_hour;
  else if (name == "day_of_week")
    out = at.tm_wday;
  else if (name == "day_of_month")
    out = at.tm_mday;
  else if (name == "day_of_year")
    out = at.tm_yday + 1;
  else if (name == "month")
    out = at.tm_mon + 1;
  else if (name == "year")
    out = at.tm_year + 1900;
  else if (name == "days_in_month") {
    std::tm next{};  // day 0 of the next month
    next.tm_year = at.tm_year;
    next.tm_mon = at.tm_mon + 1;
    const std::time_t end = timegm(&next);
    std::tm last{};
    gmtime_r(&end, &last);
    out = last.tm_mday;
  } else {
    return false;
  }
  return true;
}

}  // namespace vagt::query
