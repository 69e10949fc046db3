#include "query/evaluator.h"

#include <algorithm>
#include <unordered_map>

#include "query/operators/build.h"
#include "query/operators/context.h"
#include "query/operators/label_sets.h"
#include "query/operators/range_source.h"
#include "query/operators/sort_checked.h"
#include "query/plan.h"

namespace vagt::query {
namespace {

Status same_labelset() {
  return Status::invalid("vector cannot contain metrics with the same labelset");
}

const Labels& final_labels(StepBatch& rows, size_t row) {
  if (rows.drop_name[row] != 0) rows.labels[row] = without_metadata(rows.labels[row]);
  return rows.labels[row];
}

// The rows of a single step, in the order they came: sort() and topk() depend on it. `distinct`: no
// two rows can have the same labels, so none are compared.
Result<Vector> collect_vector(Operator& root, Timestamp at, bool distinct, EvalContext& context) {
  Vector result;
  std::unordered_map<Labels, size_t, LabelsHash> seen;
  StepBatch batch;
  while (true) {
    VAGT_CHECK_OK(context.check());
    VAGT_TRY(const bool more, root.next(batch));
    if (!more) return result;
    VAGT_CHECK_OK(context.hold(batch.rows()));
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (batch.present[row] == 0) continue;
      const Labels& labels = final_labels(batch, row);
      if (!distinct && !seen.try_emplace(labels, result.size()).second) return same_labelset();
      result.push_back({labels, at, batch.values[row]});
    }
  }
}

void append_present(const StepBatch& rows, size_t row, const StepGrid& grid, SampleColumns& out) {
  const std::span<const uint8_t> mask = rows.mask(row);
  const auto count = static_cast<size_t>(std::count(mask.begin(), mask.end(), uint8_t{1}));
  out.t.reserve(count);
  out.v.reserve(count);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) out.push(grid.at(i), rows.row(row)[i]);
  }
}

// Two pieces of one series that do not overlap in time.
Status merge_into(SampleColumns& into, const SampleColumns& from) {
  SampleColumns merged;
  size_t i = 0, j = 0;
  while (i < into.size() || j < from.size()) {
    const bool left = j == from.size() || (i < into.size() && into.t[i] < from.t[j]);
    if (i < into.size() && j < from.size() && into.t[i] == from.t[j]) return same_labelset();
    if (left) {
      merged.push(into.t[i], into.v[i]);
      ++i;
    } else {
      merged.push(from.t[j], from.v[j]);
      ++j;
    }
  }
  into = std::move(merged);
  return {};
}

// Sorts by labels and joins what came in pieces.
Result<Matrix> tidy(Matrix matrix, EvalContext& context) {
  const auto less = [](const Series& a, const Series& b) { return a.labels < b.labels; };
  if (!std::is_sorted(matrix.begin(), matrix.end(), less)) sort_checked(matrix, less, context);
  VAGT_CHECK_OK(context.check());
  size_t kept = 0;
  for (size_t i = 1; i < matrix.size(); ++i) {
    if (matrix[i].labels == matrix[kept].labels) {
      VAGT_CHECK_OK(merge_into(matrix[kept].samples, matrix[i].samples));
    } else if (++kept != i) {
      matrix[kept] = std::move(matrix[i]);
    }
  }
  if (!matrix.empty()) matrix.resize(kept + 1);
  return matrix;
}

Result<Matrix> collect_matrix(Operator& root, const StepGrid& grid, EvalContext& context) {
  Matrix matrix;
  StepBatch batch;
  while (true) {
    VAGT_CHECK_OK(context.check());
    VAGT_TRY(const bool more, root.next(batch));
    if (!more) return tidy(std::move(matrix), context);
    for (size_t row = 0; row < batch.rows(); ++row) {
      Series series;
      append_present(batch, row, grid, series.samples);
      if (series.samples.size() == 0) continue;
      VAGT_CHECK_OK(context.hold(series.samples.size()));
      series.labels = final_labels(batch, row);
      matrix.push_back(std::move(series));
    }
  }
}

// A range vector as an instant query's answer: the raw samples.
Result<Matrix> collect_range(const PlanNode& node, const StepGrid& grid, EvalContext& context) {
  VAGT_TRY(const std::unique_ptr<RangeSource> source, make_range_source(node, grid, "", context));
  const ResolvedTime& time = context.times.at(node.expr);
  const Timestamp end = time.effective(grid.start), start = end - time.range;
  Matrix matrix;
  while (true) {
    VAGT_TRY(const bool more, source->next());
    if (!more) return tidy(std::move(matrix), context);
    const SampleColumns& samples = source->samples();
    Series series;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples.t[i] > start && samples.t[i] <= end)
        series.samples.push(samples.t[i], samples.v[i]);
    }
    if (series.samples.size() == 0) continue;
    VAGT_CHECK_OK(context.hold(series.samples.size()));
    series.labels = source->drop_name() ? without_metadata(source->labels()) : source->labels();
    matrix.push_back(std::move(series));
  }
}

Result<Value> instant_value(const PlanNode& root, EvalContext& context) {
  const StepGrid& grid = context.grid;
  switch (root.expr->type) {
    case ValueType::String:
      return Value(StringValue{grid.start, string_argument(root)});
    case ValueType::Scalar: {
      VAGT_TRY(const std::vector<double> values, eval_scalar(root, grid, context));
      return Value(ScalarValue{grid.start, values[0]});
    }
    case ValueType::Matrix: {
      VAGT_TRY(Matrix matrix, collect_range(root, grid, context));
      return Value(std::move(matrix));
    }
    case ValueType::Vector: {
      VAGT_TRY(const OperatorPtr op, make_operator(root, grid, context));
      const bool distinct = std::holds_alternative<VectorSelector>(root.expr->node);
      VAGT_TRY(Vector vector, collect_vector(*op, grid.start, distinct, context));
      return Value(std::move(vector));
    }
    case ValueType::None:
      break;
  }
  return Status{Code::Internal, "the expression has no type"};
}

Result<Value> range_value(const PlanNode& root, EvalContext& context) {
  const StepGrid& grid = context.grid;
  if (root.expr->type == ValueType::Scalar) {
    VAGT_TRY(std::vector<double> values, eval_scalar(root, grid, context));
    VAGT_CHECK_OK(context.hold(values.size()));
    Series series;
    for (size_t i = 0; i < grid.count; ++i) series.samples.t.push_back(grid.at(i));
    series.samples.v = std::move(values);
    return Value(Matrix{std::move(series)});
  }
  VAGT_TRY(const OperatorPtr op, make_operator(root, grid, context));
  VAGT_TRY(Matrix matrix, collect_matrix(*op, grid, context));
  return Value(std::move(matrix));
}

template <class Evaluate>
Result<QueryResult> run(const Plan& plan, tsdb::Store& store, const StepGrid& grid, Timestamp end,
                        const EvalOptions& options, std::stop_token stop, EvalStats* stats,
                        Evaluate evaluate) {
  EvalContext context(plan, options, grid, end, std::move(stop));
  Result<Value> value = [&]() -> Result<Value> {
    VAGT_CHECK_OK(context.check());
    VAGT_CHECK_OK(context.check_steps(grid.count));
    VAGT_CHECK_OK(open_reads(context, store));
    return evaluate(plan.root(), context);
  }();
  if (stats != nullptr) *stats = context.stats;
  if (!value.ok()) return std::move(value).error();
  QueryResult result;
  result.value = std::move(value).value();
  context.take_annotations(result);
  return result;
}

}  // namespace

Result<QueryResult> eval_instant(const Plan& plan, tsdb::Store& store, Timestamp at,
                                 const EvalOptions& options, std::stop_token stop,
                                 EvalStats* stats) {
  return run(plan, store, {at, Duration(0), 1}, at, options, std::move(stop), stats, instant_value);
}

Result<QueryResult> eval_range(const Plan& plan, tsdb::Store& store, Timestamp start, Timestamp end,
                               Duration step, const EvalOptions& options, std::stop_token stop,
                               EvalStats* stats) {
  const ValueType type = plan.expr().type;
  if (type != ValueType::Vector && type != ValueType::Scalar)
    return Status::invalid("invalid expression type \"" + std::string(documented_type(type)) +
                           "\" for range query, must be Scalar or instant Vector");
  if (step.count() <= 0)
    return Status::invalid("zero or negative query resolution step widths are not accepted");
  if (end < start) return Status::invalid("end timestamp must not be before start time");
  const auto count = static_cast<size_t>((end - start) / step) + 1;
  return run(plan, store, {start, step, count}, end, options, std::move(stop), stats, range_value);
}

}  // namespace vagt::query
