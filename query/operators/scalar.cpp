// Scalars: one value per step, worked out before anything that uses them runs.
#include <cmath>

#include "query/functions.h"
#include "query/operators/build.h"
#include "query/operators/numbers.h"

namespace vagt::query {
namespace {

// scalar(v): the value where there is exactly one, else NaN.
Result<std::vector<double>> single_values(const PlanNode& node, const StepGrid& grid,
                                          EvalContext& context) {
  VAGT_TRY(const OperatorPtr input, make_operator(node, grid, context));
  std::vector<double> values(grid.count, std::nan(""));
  std::vector<uint32_t> seen(grid.count, 0);
  StepBatch batch;
  while (true) {
    VAGT_TRY(const bool more, input->next(batch));
    if (!more) break;
    for (size_t row = 0; row < batch.rows(); ++row) {
      for (size_t i = 0; i < grid.count; ++i) {
        if (batch.mask(row)[i] == 0) continue;
        values[i] = seen[i] == 0 ? batch.row(row)[i] : std::nan("");
        ++seen[i];
      }
    }
  }
  return values;
}

Result<std::vector<double>> call_values(const PlanNode& node, const StepGrid& grid,
                                        EvalContext& context) {
  const std::string_view name = std::get<Call>(node.expr->node).function->name;
  std::vector<double> values(grid.count);
  const auto all = [&](double v) { values.assign(grid.count, v); };
  if (name == "scalar") return single_values(node.children[0], grid, context);
  if (name == "time") {
    for (size_t i = 0; i < grid.count; ++i) values[i] = to_seconds(grid.at(i));
  } else if (name == "pi") {
    all(M_PI);
  } else if (name == "start") {
    all(to_seconds(context.grid.start));
  } else if (name == "end") {
    all(to_seconds(context.end));
  } else if (name == "step") {
    all(to_seconds(context.grid.step));
  } else if (name == "range") {
    all(to_seconds(context.end - context.grid.start));
  } else if (name == "min_of" || name == "max_of") {
    VAGT_TRY(const std::vector<double> a, eval_scalar(node.children[0], grid, context));
    VAGT_TRY(const std::vector<double> b, eval_scalar(node.children[1], grid, context));
    for (size_t i = 0; i < grid.count; ++i)
      values[i] = name == "min_of" ? go_min(a[i], b[i]) : go_max(a[i], b[i]);
  } else {
    return Status{Code::Internal, "no scalar function " + std::string(name)};
  }
  return values;
}

}  // namespace

Result<std::vector<double>> eval_scalar(const PlanNode& node, const StepGrid& grid,
                                        EvalContext& context) {
  if (node.constant) return std::vector<double>(grid.count, *node.constant);
  if (node.invariant && grid.count > 1) {
    VAGT_TRY(const std::vector<double> once,
             eval_scalar(node, {grid.start, grid.step, 1}, context));
    return std::vector<double>(grid.count, once[0]);
  }
  if (std::holds_alternative<Call>(node.expr->node)) return call_values(node, grid, context);
  if (const auto* unary = std::get_if<Unary>(&node.expr->node)) {
    VAGT_TRY(std::vector<double> values, eval_scalar(node.children[0], grid, context));
    if (unary->negate) {
      for (double& v : values) v = -v;
    }
    return values;
  }
  if (const auto* binary = std::get_if<Binary>(&node.expr->node)) {
    VAGT_TRY(std::vector<double> lhs, eval_scalar(node.children[0], grid, context));
    VAGT_TRY(const std::vector<double> rhs, eval_scalar(node.children[1], grid, context));
    for (size_t i = 0; i < grid.count; ++i) lhs[i] = scalar_binary(binary->op, lhs[i], rhs[i]);
    return lhs;
  }
  return Status{Code::Internal, "not a scalar expression"};
}

const std::string& string_argument(const PlanNode& node) {
  return std::get<StringLiteral>(node.expr->node).value;
}

}  // namespace vagt::query
