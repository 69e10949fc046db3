#include "query/functions.h"

#include <algorithm>

namespace vagt::query {
namespace {

using Types = std::vector<ValueType>;

std::vector<FunctionSignature> make_table() {
  constexpr ValueType S = ValueType::Scalar, T = ValueType::String, V = ValueType::Vector,
                      M = ValueType::Matrix;
  std::vector<FunctionSignature> table;
  const auto add = [&table](std::string_view name, Types args, int variadic = 0,
                            ValueType returns = ValueType::Vector) {
    table.push_back({name, std::move(args), variadic, returns, false});
  };
  const auto experimental = [&table](std::string_view name, Types args, int variadic = 0,
                                     ValueType returns = ValueType::Vector) {
    table.push_back({name, std::move(args), variadic, returns, true});
  };
  for (const std::string_view name : {"abs",
                                      "absent",
                                      "acos",
                                      "acosh",
                                      "asin",
                                      "asinh",
                                      "atan",
                                      "atanh",
                                      "ceil",
                                      "cos",
                                      "cosh",
                                      "deg",
                                      "exp",
                                      "floor",
                                      "ln",
                                      "log10",
                                      "log2",
                                      "rad",
                                      "sgn",
                                      "sin",
                                      "sinh",
                                      "sqrt",
                                      "tan",
                                      "tanh",
                                      "sort",
                                      "sort_desc",
                                      "timestamp",
                                      "histogram_avg",
                                      "histogram_count",
                                      "histogram_stddev",
                                      "histogram_stdvar",
                                      "histogram_sum"})
    add(name, {V});
  for (const std::string_view name :
       {"absent_over_time", "avg_over_time", "changes", "count_over_time", "delta", "deriv",
        "first_over_time", "idelta", "increase", "irate", "last_over_time", "max_over_time",
        "min_over_time", "present_over_time", "rate", "resets", "stddev_over_time",
        "stdvar_over_time", "sum_over_time"})
    add(name, {M});
  for (const std::string_view name : {"day_of_month", "day_of_week", "day_of_year", "days_in_month",
                                      "hour", "minute", "month", "year"})
    add(name, {V}, 1);
  add("clamp", {V, S, S});
  add("clamp_max", {V, S});
  add("clamp_min", {V, S});
  add("histogram_fraction", {S, S, V});
  add("histogram_quantile", {S, V});
  add("label_join", {V, T, T, T}, -1);
  add("label_replace", {V, T, T, T, T});
  add("pi", {}, 0, S);
  add("predict_linear", {M, S});
  add("quantile_over_time", {S, M});
  add("round", {V, S}, 1);
  add("scalar", {V}, 0, S);
  add("time", {}, 0, S);
  add("vector", {S});
  for (const std::string_view name :
       {"mad_over_time", "ts_of_first_over_time", "ts_of_last_over_time", "ts_of_max_over_time",
        "ts_of_min_over_time"})
    experimental(name, {M});
  for (const std::string_view name : {"start", "end", "step", "range"})
    experimental(name, {}, 0, S);
  experimental("double_exponential_smoothing", {M, S, S});
  experimental("histogram_quantiles", {V, T, S, S}, 9);
  experimental("info", {V, V}, 1);
  experimental("max_of", {S, S}, 0, S);
  experimental("min_of", {S, S}, 0, S);
  experimental("sort_by_label", {V, T}, -1);
  experimental("sort_by_label_desc", {V, T}, -1);
  experimental("start_timestamp", {V});
  std::sort(table.begin(), table.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return table;
}

const std::vector<FunctionSignature>& table() {
  static const std::vector<FunctionSignature> functions = make_table();  // constant
  return functions;
}

}  // namespace

const FunctionSignature* find_function(std::string_view name) {
  const auto& all = table();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const FunctionSignature& f, std::string_view n) { return f.name < n; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::span<const FunctionSignature> all_functions() { return table(); }

}  // namespace vagt::query
