// From plan nodes to operators. One function per kind of node; each lives in the .cpp named beside
// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "query/operators/context.h"
#include "query/operators/operator.h"

namespace vagt::query {

// build.cpp: the operator for any node that yields vectors.
Result<OperatorPtr> make_operator(const PlanNode& node, const StepGrid& grid, EvalContext& context);
// scalar.cpp: a scalar node's value at every step.
Result<std::vector<double>> eval_scalar(const PlanNode& node, const StepGrid& grid,
                                        EvalContext& context);
// The text of a string literal argument.
const std::string& string_argument(const PlanNode& node);

// vector_select.cpp. With `timestamps` the samples' instants in seconds instead of their values.
OperatorPtr make_vector_select(const Expr& expr, const StepGrid& grid, bool timestamps,
                               EvalContext& context);
// plumbing.cpp: what has one step, at each of `steps`.
OperatorPtr make_repeat(OperatorPtr single_step, size_t steps);
// plumbing.cpp: rows that came to have the same labels become one; InvalidArgument where they
// overlap.
OperatorPtr make_merge(OperatorPtr input, size_t steps, EvalContext& context);
// range_call.cpp: a function of a range vector.
Result<OperatorPtr> make_range_call(const PlanNode& node, const StepGrid& grid,
                                    EvalContext& context);
// call.cpp: the row's values are no longer the metric's.
void drop_metric_name(StepBatch& batch, size_t row, const EvalContext& context);
// call.cpp: a function of instant vectors.
Result<OperatorPtr> make_call(const PlanNode& node, const StepGrid& grid, EvalContext& context);
// absent.cpp: absent() and absent_over_time().
OperatorPtr make_absent(OperatorPtr input, const Expr& argument, const StepGrid& grid,
                        EvalContext& context);
// labels_call.cpp
Result<OperatorPtr> make_label_call(const PlanNode& node, const StepGrid& grid,
                                    EvalContext& context);
// sort.cpp
Result<OperatorPtr> make_sort(const PlanNode& node, const StepGrid& grid, EvalContext& context);
// histogram.cpp
Result<OperatorPtr> make_histogram_call(const PlanNode& node, const StepGrid& grid,
                                        EvalContext& context);
// info.cpp
Result<OperatorPtr> make_info(const PlanNode& node, const StepGrid& grid, EvalContext& context);
// aggregate.cpp, aggregate_select.cpp, aggregate_values.cpp
Result<OperatorPtr> make_aggregate(const PlanNode& node, const StepGrid& grid,
                                   EvalContext& context);
Result<OperatorPtr> make_select_k(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                  EvalContext& context);
Result<OperatorPtr> make_count_values(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                      EvalContext& context);
Result<OperatorPtr> make_quantile(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                  EvalContext& context);
// binary.cpp, join.cpp, set_operation.cpp
Result<OperatorPtr> make_binary(const PlanNode& node, const StepGrid& grid, EvalContext& context);
OperatorPtr make_join(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
                      bool many_has_one_name, EvalContext& context);
OperatorPtr make_set_operation(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs,
                               const StepGrid& grid, EvalContext& context);

// All rows of an operator, for those that cannot stream. Counted as held until the table goes.
class Table {
 public:
  Table(size_t steps, EvalContext& context) : rows_(steps), context_(context) {}
  ~Table() { context_.release(held_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Status fill(Operator& input);
  // Counts what was added to rows() directly.
  Status recount();
  StepBatch& rows() { return rows_; }
  const StepBatch& rows() const { return rows_; }

 private:
  StepBatch rows_;
  EvalContext& context_;
  size_t held_ = 0;
};

// plumbing.cpp: calls `change` on every batch that passes through.
OperatorPtr make_map(OperatorPtr input, std::function<Status(StepBatch&)> change);
// Rows made all at once, on the first call for them.
OperatorPtr make_deferred(std::function<Result<std::unique_ptr<Table>>()> make);

}  // namespace vagt::query
