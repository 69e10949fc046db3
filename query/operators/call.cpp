// Functions that change each value of an instant vector by itself.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "query/functions.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/numbers.h"

namespace vagt::query {
namespace {

using ValueFunction = double (*)(double);

double sign(double v) { return v < 0 ? -1 : v > 0 ? 1 : v; }
double to_radians(double v) { return v * M_PI / 180; }
double to_degrees(double v) { return v * 180 / M_PI; }

constexpr int64_t kDaysIn400Years = 146'097;  // after which the calendar repeats

struct Date {
  std::chrono::year_month_day ymd{};  // within the first 400-year cycle around 1970
  std::chrono::sys_days day{};
  int64_t cycles = 0;
  int64_t second_of_day = 0;
};

// Of whole seconds since 1970. NaN, infinities and what is too large become the smallest int64, as
// Go's conversion has them.
Date date_of(double seconds) {
  constexpr double kLimit = 9'223'372'036'854'775'808.0;
  const int64_t whole = seconds > -kLimit && seconds < kLimit ? static_cast<int64_t>(seconds)
                                                              : std::numeric_limits<int64_t>::min();
  int64_t days = whole / 86400, rest = whole % 86400;
  if (rest < 0) rest += 86400, --days;
  const std::chrono::sys_days day{std::chrono::days{days % kDaysIn400Years}};
  return {std::chrono::year_month_day{day}, day, days / kDaysIn400Years, rest};
}

double year(double v) {
  const Date date = date_of(v);
  return static_cast<double>(date.cycles * 400 + int{date.ymd.year()});
}
double month(double v) { return unsigned{date_of(v).ymd.month()}; }
double day_of_month(double v) { return unsigned{date_of(v).ymd.day()}; }
double day_of_week(double v) { return std::chrono::weekday{date_of(v).day}.c_encoding(); }
double day_of_year(double v) {
  const Date date = date_of(v);
  const std::chrono::sys_days first{date.ymd.year() / std::chrono::January / 1};
  return static_cast<double>((date.day - first).count() + 1);
}
double days_in_month(double v) {
  const Date date = date_of(v);
  return unsigned{(date.ymd.year() / date.ymd.month() / std::chrono::last).day()};
}
double hour(double v) { return static_cast<double>(date_of(v).second_of_day / 3600); }
double minute(double v) { return static_cast<double>(date_of(v).second_of_day / 60 % 60); }

struct NamedFunction {
  std::string_view name;
  ValueFunction function;
  bool of_time = false;  // takes the step's time when it has no argument
};

constexpr auto kFunctions = std::to_array<NamedFunction>({
    {"abs", [](double v) { return std::abs(v); }},
    {"ceil", [](double v) { return std::ceil(v); }},
    {"floor", [](double v) { return std::floor(v); }},
    {"exp", [](double v) { return std::exp(v); }},
    {"sqrt", [](double v) { return std::sqrt(v); }},
    {"ln", go_log},
    {"log2", go_log2},
    {"log10", go_log10},
    {"sin", [](double v) { return std::sin(v); }},
    {"cos", [](double v) { return std::cos(v); }},
    {"tan", [](double v) { return std::tan(v); }},
    {"asin", [](double v) { return std::asin(v); }},
    {"acos", [](double v) { return std::acos(v); }},
    {"atan", [](double v) { return std::atan(v); }},
    {"sinh", [](double v) { return std::sinh(v); }},
    {"cosh", [](double v) { return std::cosh(v); }},
    {"tanh", [](double v) { return std::tanh(v); }},
    {"asinh", [](double v) { return std::asinh(v); }},
    {"acosh", [](double v) { return std::acosh(v); }},
    {"atanh", [](double v) { return std::atanh(v); }},
    {"rad", to_radians},
    {"deg", to_degrees},
    {"sgn", sign},
    {"year", year, true},
    {"month", month, true},
    {"day_of_month", day_of_month, true},
    {"day_of_week", day_of_week, true},
    {"day_of_year", day_of_year, true},
    {"days_in_month", days_in_month, true},
    {"hour", hour, true},
    {"minute", minute, true},
});

// One row without labels.
OperatorPtr make_single_row(std::vector<double> values, EvalContext& context) {
  auto shared = std::make_shared<std::vector<double>>(std::move(values));
  return make_deferred([shared, &context]() -> Result<std::unique_ptr<Table>> {
    auto table = std::make_unique<Table>(shared->size(), context);
    const size_t row = table->rows().add({}, false);
    std::copy(shared->begin(), shared->end(), table->rows().row(row).begin());
    std::fill(table->rows().mask(row).begin(), table->rows().mask(row).end(), uint8_t{1});
    return table;
  });
}

// Values without a name, each by `change(value, step)`.
template <class Change>
OperatorPtr map_values(OperatorPtr input, EvalContext& context, Change change) {
  return make_map(std::move(input), [change, &context](StepBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      drop_metric_name(batch, row, context);
      const std::span<double> values = batch.row(row);
      const std::span<const uint8_t> mask = batch.mask(row);
      for (size_t i = 0; i < values.size(); ++i) {
        if (mask[i] != 0) values[i] = change(values[i], i);
      }
    }
    return Status();
  });
}

Result<OperatorPtr> make_clamp(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                               EvalContext& context) {
  const std::string_view name = std::get<Call>(node.expr->node).function->name;
  std::vector<double> lo(grid.count, -HUGE_VAL), hi(grid.count, HUGE_VAL);
  if (name != "clamp_max") {
    VAGT_TRY(lo, eval_scalar(node.children[1], grid, context));
  }
  if (name != "clamp_min") {
    VAGT_TRY(hi, eval_scalar(node.children[name == "clamp" ? 2 : 1], grid, context));
  }
  return make_map(std::move(input), [lo, hi, &context](StepBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      drop_metric_name(batch, row, context);
      for (size_t i = 0; i < lo.size(); ++i) {
        double& v = batch.row(row)[i];
        v = go_max(lo[i], go_min(hi[i], v));
        if (hi[i] < lo[i]) batch.mask(row)[i] = 0;
      }
    }
    return Status();
  });
}

Result<OperatorPtr> make_round(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                               EvalContext& context) {
  std::vector<double> nearest(grid.count, 1);
  if (node.children.size() > 1) {
    VAGT_TRY(nearest, eval_scalar(node.children[1], grid, context));
  }
  return map_values(std::move(input), context, [nearest](double v, size_t step) {
    const double inverse = 1.0 / nearest[step];
    return std::floor(v * inverse + 0.5) / inverse;
  });
}

// timestamp(selector) is about the samples, timestamp(anything else) about the steps.
Result<OperatorPtr> make_timestamp(const PlanNode& node, const StepGrid& grid,
                                   EvalContext& context) {
  const PlanNode& argument = node.children[0];
  if (std::holds_alternative<VectorSelector>(argument.expr->node)) {
    const bool once = argument.invariant && grid.count > 1;
    const StepGrid own{grid.start, grid.step, once ? 1 : grid.count};
    OperatorPtr select = make_vector_select(*argument.expr, own, true, context);
    if (once) select = make_repeat(std::move(select), grid.count);
    return map_values(std::move(select), context, [](double v, size_t) { return v; });
  }
  VAGT_TRY(OperatorPtr input, make_operator(argument, grid, context));
  return map_values(std::move(input), context,
                    [grid](double, size_t step) { return to_seconds(grid.at(step)); });
}

}  // namespace

void drop_metric_name(StepBatch& batch, size_t row, const EvalContext& context) {
  if (context.options.delayed_name_removal) {
    batch.drop_name[row] = 1;
  } else {
    batch.labels[row] = without_metadata(batch.labels[row]);
  }
}

Result<OperatorPtr> make_call(const PlanNode& node, const StepGrid& grid, EvalContext& context) {
  const std::string_view name = std::get<Call>(node.expr->node).function->name;
  if (name == "timestamp") return make_timestamp(node, grid, context);
  if (name == "start_timestamp") {
    // Only samples stored with a start timestamp have one, and none are.
    return make_deferred([steps = grid.count, &context]() -> Result<std::unique_ptr<Table>> {
      return std::make_unique<Table>(steps, context);
    });
  }
  if (name == "vector") {
    VAGT_TRY(std::vector<double> values, eval_scalar(node.children[0], grid, context));
    return make_single_row(std::move(values), context);
  }
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const NamedFunction& f) { return f.name == name; });
  if (found != kFunctions.end() && node.children.empty()) {
    std::vector<double> values(grid.count);
    for (size_t i = 0; i < grid.count; ++i)
      values[i] = found->function(std::trunc(to_seconds(grid.at(i))));
    return make_single_row(std::move(values), context);
  }
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  if (name.substr(0, 5) == "clamp") return make_clamp(node, std::move(input), grid, context);
  if (name == "round") return make_round(node, std::move(input), grid, context);
  if (found == kFunctions.end()) return Status{Code::Internal, "no function " + std::string(name)};
  return map_values(std::move(input), context,
                    [function = found->function](double v, size_t) { return function(v); });
}

}  // namespace vagt::query
