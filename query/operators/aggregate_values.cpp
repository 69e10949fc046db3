// quantile and count_values: aggregations that need every value of a group at once.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/number_text.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/numbers.h"
#include "query/operators/sort_checked.h"

namespace vagt::query {
namespace {

// The rows of each group, in the order they came.
std::vector<std::vector<size_t>> rows_by_group(const StepBatch& rows, GroupIndex& index) {
  std::vector<std::vector<size_t>> members;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const size_t group = index.find_or_add(rows.labels[row]);
    if (group == members.size()) members.emplace_back();
    members[group].push_back(row);
  }
  return members;
}

void warn_quantiles(const std::vector<double>& q, Source at, EvalContext& context) {
  const auto warn = [&](double value) {
    context.warn("quantile value should be between 0 and 1, got " + format_float_g(value), at);
  };
  const auto is_nan = [](double v) { return std::isnan(v); };
  if (std::any_of(q.begin(), q.end(), is_nan)) warn(std::nan(""));
  const auto [lowest, highest] = std::minmax_element(q.begin(), q.end(), value_less);
  if (*highest > 1) warn(*highest);
  if (*lowest < 0) warn(*lowest);
}

Result<std::unique_ptr<Table>> quantiles(Operator& input, const std::vector<double>& q,
                                         const LabelPick& pick, EvalContext& context) {
  Table all(q.size(), context);
  VAGT_CHECK_OK(all.fill(input));
  const StepBatch& in = all.rows();
  GroupIndex index(pick);
  const std::vector<std::vector<size_t>> members = rows_by_group(in, index);
  auto table = std::make_unique<Table>(q.size(), context);
  StepBatch& out = table->rows();
  std::vector<double> values;
  for (size_t group = 0; group < members.size(); ++group) {
    VAGT_CHECK_OK(context.check());
    bool drop = false;
    for (size_t row : members[group]) drop = drop || in.drop_name[row] != 0;
    const size_t to = out.add(index.groups()[group], drop);
    VAGT_CHECK_OK(table->recount());
    for (size_t i = 0; i < q.size(); ++i) {
      if (!context.may_go_on(members[group].size())) return context.check();
      values.clear();
      for (size_t row : members[group]) {
        if (in.mask(row)[i] != 0) values.push_back(in.row(row)[i]);
      }
      if (values.empty()) continue;
      sort_checked(values, value_less, context);
      out.row(to)[i] = quantile_of_sorted(q[i], values);
      out.mask(to)[i] = 1;
    }
  }
  VAGT_CHECK_OK(context.check());
  return table;
}

// Counts equal values; each distinct one gives its group a series with the value as a label.
class ValueCounter {
 public:
  ValueCounter(std::string label, const LabelPick& pick, Table& table, EvalContext& context)
      : label_(std::move(label)),
        index_(pick),
        table_(table),
        out_(table.rows()),
        context_(context) {}

  Status add(const StepBatch& in, size_t row) {
    std::unordered_map<uint64_t, size_t> known;  // this series' values by their bits
    for (size_t i = 0; i < in.steps(); ++i) {
      if (in.mask(row)[i] == 0) continue;
      const double v = in.row(row)[i];
      const auto [it, is_new] = known.try_emplace(std::bit_cast<uint64_t>(v), 0);
      if (is_new) VAGT_CHECK_OK(find_group(in, row, v, it->second));
      out_.row(it->second)[i] += 1;
      out_.mask(it->second)[i] = 1;
    }
    return {};
  }

 private:
  Status find_group(const StepBatch& in, size_t row, double v, size_t& group) {
    const Labels with_value = LabelsBuilder(in.labels[row]).set(label_, format_float(v)).build();
    group = index_.find_or_add(with_value);
    if (group != out_.rows()) return {};
    // As many groups as there are values, each over all steps.
    if (!context_.may_go_on(in.steps())) return context_.check();
    out_.add(index_.groups()[group], false);
    return table_.recount();
  }

  const std::string label_;
  GroupIndex index_;
  Table& table_;
  StepBatch& out_;
  EvalContext& context_;
};

}  // namespace

Result<OperatorPtr> make_quantile(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                  EvalContext& context) {
  const auto& aggregate = std::get<Aggregate>(node.expr->node);
  VAGT_TRY(std::vector<double> q, eval_scalar(node.children[1], grid, context));
  warn_quantiles(q, aggregate.param->source, context);
  const std::shared_ptr<Operator> shared = std::move(input);
  const LabelPick pick(aggregate.grouping, aggregate.without);
  return make_deferred(
      [shared, q = std::move(q), pick, &context] { return quantiles(*shared, q, pick, context); });
}

Result<OperatorPtr> make_count_values(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                      EvalContext& context) {
  const auto& aggregate = std::get<Aggregate>(node.expr->node);
  const std::string label = string_argument(node.children[1]);
  if (!is_utf8_name(label)) return Status::invalid("invalid label name " + quote(label));
  std::vector<std::string> grouping = aggregate.grouping;
  if (!aggregate.without) grouping.push_back(label);
  const LabelPick pick(grouping, aggregate.without);
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred([=, &context]() -> Result<std::unique_ptr<Table>> {
    auto table = std::make_unique<Table>(grid.count, context);
    ValueCounter counter(label, pick, *table, context);
    StepBatch batch;
    while (true) {
      VAGT_TRY(const bool more, shared->next(batch));
      if (!more) return table;
      for (size_t row = 0; row < batch.rows(); ++row) VAGT_CHECK_OK(counter.add(batch, row));
    }
  });
}

}  // namespace vagt::query
