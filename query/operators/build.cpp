#include "query/operators/build.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "query/functions.h"
#include "query/operators/probe.h"

namespace vagt::query {
namespace {

bool takes_range(const PlanNode& node) {
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const PlanNode& child) { return child.expr->type == ValueType::Matrix; });
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// These give out the labels they take in.
bool keeps_name(std::string_view name) {
  return name == "last_over_time" || name == "first_over_time" || starts_with(name, "sort");
}

Result<OperatorPtr> call_operator(const PlanNode& node, const StepGrid& grid,
                                  EvalContext& context) {
  const std::string_view name = std::get<Call>(node.expr->node).function->name;
  if (name == "absent" || name == "absent_over_time") {
    VAGT_TRY(OperatorPtr input, name == "absent" ? make_operator(node.children[0], grid, context)
                                                 : make_range_call(node, grid, context));
    return make_absent(std::move(input), *node.children[0].expr, grid, context);
  }
  if (name == "label_replace" || name == "label_join") return make_label_call(node, grid, context);
  if (name == "info") return make_info(node, grid, context);
  if (starts_with(name, "sort") && name != "sqrt") return make_sort(node, grid, context);
  VAGT_TRY(OperatorPtr made, starts_with(name, "histogram_")
                                 ? make_histogram_call(node, grid, context)
                             : takes_range(node) ? make_range_call(node, grid, context)
                                                 : make_call(node, grid, context));
  const bool may_collide = !keeps_name(name) && !context.options.delayed_name_removal &&
                           std::any_of(node.children.begin(), node.children.end(),
                                       [](const PlanNode& child) { return !child.one_name; });
  return may_collide ? make_merge(std::move(made), grid.count, context) : std::move(made);
}

Result<OperatorPtr> unary_operator(const PlanNode& node, bool negate, const StepGrid& grid,
                                   EvalContext& context) {
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  if (!negate) return input;
  OperatorPtr made = make_map(std::move(input), [&context](StepBatch& batch) {
    for (double& v : batch.values) v = -v;
    for (size_t row = 0; row < batch.rows(); ++row) drop_metric_name(batch, row, context);
    return Status();
  });
  if (node.children[0].one_name || context.options.delayed_name_removal) return made;
  return make_merge(std::move(made), grid.count, context);
}

Result<OperatorPtr> plain_operator(const PlanNode& node, const StepGrid& grid,
                                   EvalContext& context) {
  if (std::holds_alternative<VectorSelector>(node.expr->node))
    return make_vector_select(*node.expr, grid, false, context);
  if (std::holds_alternative<Call>(node.expr->node)) return call_operator(node, grid, context);
  if (std::holds_alternative<Aggregate>(node.expr->node))
    return make_aggregate(node, grid, context);
  if (std::holds_alternative<Binary>(node.expr->node)) return make_binary(node, grid, context);
  if (const auto* unary = std::get_if<Unary>(&node.expr->node))
    return unary_operator(node, unary->negate, grid, context);
  return Status{Code::Internal, "not an instant vector expression"};
}

}  // namespace

Result<OperatorPtr> make_operator(const PlanNode& node, const StepGrid& grid,
                                  EvalContext& context) {
  NodeCost* const cost = context.cost_of(*node.expr);
  const bool once = node.invariant && grid.count > 1;
  const StepGrid own_grid = once ? StepGrid{grid.start, grid.step, 1} : grid;
  VAGT_TRY(OperatorPtr made, plain_operator(node, own_grid, context));
  if (cost != nullptr) made = make_probe(std::move(made), *cost);
  return once ? make_repeat(std::move(made), grid.count) : std::move(made);
}

}  // namespace vagt::query
