#include <map>

#include "query/operators/build.h"

namespace vagt::query {
namespace {

// The labels that the selector's equality matchers pin down; none where a label is matched more
// than once.
Labels pinned_labels(const Expr& argument) {
  const VectorSelector* selector = std::get_if<VectorSelector>(&argument.node);
  if (const auto* matrix = std::get_if<MatrixSelector>(&argument.node))
    selector = &std::get<VectorSelector>(without_parens(*matrix->vector).node);
  if (selector == nullptr) return {};
  std::map<std::string, std::string> pinned;
  std::map<std::string, bool> seen;
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.name() == kMetricName) continue;
    if (matcher.op() == MatchOp::Equal && !seen[matcher.name()]) {
      pinned[matcher.name()] = matcher.value();
      seen[matcher.name()] = true;
    } else {
      pinned.erase(matcher.name());
    }
  }
  return Labels::from_map(pinned);
}

}  // namespace

OperatorPtr make_absent(OperatorPtr input, const Expr& argument, const StepGrid& grid,
                        EvalContext& context) {
  const std::shared_ptr<Operator> shared = std::move(input);
  const Labels labels = pinned_labels(argument);
  return make_deferred([shared, labels, grid, &context]() -> Result<std::unique_ptr<Table>> {
    auto table = std::make_unique<Table>(grid.count, context);
    StepBatch& rows = table->rows();
    rows.add(labels, false);
    std::fill(rows.values.begin(), rows.values.end(), 1.0);
    std::fill(rows.present.begin(), rows.present.end(), uint8_t{1});
    StepBatch batch;
    while (true) {
      VAGT_TRY(const bool more, shared->next(batch));
      if (!more) return table;
      for (size_t row = 0; row < batch.rows(); ++row) {
        for (size_t i = 0; i < grid.count; ++i) {
          if (batch.mask(row)[i] != 0) rows.present[i] = 0;
        }
      }
    }
  });
}

}  // namespace vagt::query
