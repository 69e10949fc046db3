// What the naive evaluator computes with, each thing written down as the documentation has it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vagt::query {

using NaiveSamples = std::vector<std::pair<int64_t, double>>;  // milliseconds

void naive_kahan(double inc, double& sum, double& c);
double naive_mean(const std::vector<double>& v);
double naive_quantile(double q, std::vector<double> v);
// Upper bounds and cumulative counts of a classic histogram.
double naive_bucket_quantile(double q, std::vector<std::pair<double, double>> buckets);
double naive_min(double a, double b);  // Go's math.Min and math.Max
double naive_max(double a, double b);

// When and over what a function of a range vector is asked; milliseconds.
struct NaiveWindow {
  NaiveSamples samples;  // never empty
  int64_t start = 0;     // the range is (start, end]
  int64_t end = 0;
  int64_t step = 0;  // the instant of the query's step
  std::vector<double> arguments;
};
// False: no value there. Throws std::logic_error for a function it does not know.
bool naive_window_value(const std::string& name, const NaiveWindow& window, double& out);
// A function of one number; false: not one of those.
bool naive_number_function(const std::string& name, double v, double& out);
// hour(), month() and their like, of seconds since the epoch; false: not one of those.
bool naive_date_function(const std::string& name, double seconds, double& out);

}  // namespace vagt::query
