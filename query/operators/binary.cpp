// Operators between a vector and a scalar, and the choice among those between two vectors.
#include <cmath>

#include "query/operators/binary_kernel.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"

namespace vagt::query {
namespace {

Result<OperatorPtr> vector_with_scalar(const PlanNode& node, const Binary& binary,
                                       const StepGrid& grid, EvalContext& context) {
  const bool scalar_left = node.children[0].expr->type == ValueType::Scalar;
  const PlanNode& vector_node = node.children[scalar_left ? 1 : 0];
  VAGT_TRY(const std::vector<double> scalar,
           eval_scalar(node.children[scalar_left ? 0 : 1], grid, context));
  VAGT_TRY(OperatorPtr input, make_operator(vector_node, grid, context));
  const bool drops = !is_comparison(binary.op) || binary.return_bool;
  OperatorPtr made =
      make_map(std::move(input), [scalar, scalar_left, drops, op = binary.op,
                                  as_bool = binary.return_bool, &context](StepBatch& batch) {
        for (size_t row = 0; row < batch.rows(); ++row) {
          if (drops) drop_metric_name(batch, row, context);
          const std::span<double> v = batch.row(row);
          const std::span<const double> s(scalar);
          // A comparison keeps the vector's value, whichever side it is on.
          combine(op, as_bool, scalar_left ? s : v, scalar_left ? v : s, v, v, batch.mask(row));
        }
        return Status();
      });
  if (!drops || vector_node.one_name || context.options.delayed_name_removal) return made;
  return make_merge(std::move(made), grid.count, context);
}

}  // namespace

Result<OperatorPtr> make_binary(const PlanNode& node, const StepGrid& grid, EvalContext& context) {
  const auto& binary = std::get<Binary>(node.expr->node);
  if (!binary.matching) return vector_with_scalar(node, binary, grid, context);
  VAGT_TRY(OperatorPtr lhs, make_operator(node.children[0], grid, context));
  VAGT_TRY(OperatorPtr rhs, make_operator(node.children[1], grid, context));
  if (is_set_operator(binary.op))
    return make_set_operation(binary, std::move(lhs), std::move(rhs), grid, context);
  const bool many_is_right = binary.matching->card == VectorMatching::Card::OneToMany;
  return make_join(binary, std::move(lhs), std::move(rhs), grid,
                   node.children[many_is_right ? 1 : 0].one_name, context);
}

}  // namespace vagt::query
