#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "query/functions.h"
#include "query/operators/build.h"
#include "query/operators/sort_checked.h"

namespace vagt::query {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Runs of digits and of other bytes.
std::vector<std::string_view> chunks_of(std::string_view text) {
  std::vector<std::string_view> chunks;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && is_digit(text[end]) == is_digit(text[i])) ++end;
    chunks.push_back(text.substr(i, end - i));
    i = end;
  }
  return chunks;
}

std::string_view without_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

// Natural order: numbers inside text by their size, so that "node9" comes before "node10".
bool natural_less(std::string_view a, std::string_view b) {
  const std::vector<std::string_view> as = chunks_of(a), bs = chunks_of(b);
  for (size_t i = 0; i < as.size() && i < bs.size(); ++i) {
    if (as[i] == bs[i]) continue;
    if (!is_digit(as[i][0]) || !is_digit(bs[i][0])) return as[i] < bs[i];
    const std::string_view x = without_zeros(as[i]), y = without_zeros(bs[i]);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    // The same number: fewer leading zeros first.
    return as[i].size() < bs[i].size();
  }
  return as.size() < bs.size();
}

using RowLess = std::function<bool(const StepBatch&, size_t, size_t)>;

// NaN comes last either way.
RowLess by_value(bool descending) {
  return [descending](const StepBatch& rows, size_t a, size_t b) {
    const double x = rows.values[a], y = rows.values[b];
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
    return descending ? x > y : x < y;
  };
}

RowLess by_labels(std::vector<std::string> names, bool descending) {
  return [names = std::move(names), descending](const StepBatch& rows, size_t a, size_t b) {
    if (descending) std::swap(a, b);
    for (const std::string& name : names) {
      const std::string_view x = rows.labels[a].get(name), y = rows.labels[b].get(name);
      if (x != y) return natural_less(x, y);
    }
    return rows.labels[a] < rows.labels[b];
  };
}

void reorder(StepBatch& rows, const RowLess& less, EvalContext& context) {
  std::vector<size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), size_t{0});
  sort_checked(
      order, [&](size_t a, size_t b) { return less(rows, a, b); }, context);
  StepBatch sorted(rows.steps());
  for (size_t from : order) {
    const size_t row = sorted.add(rows.labels[from], rows.drop_name[from] != 0);
    sorted.values[row] = rows.values[from];
    sorted.present[row] = rows.present[from];
  }
  rows = std::move(sorted);
}

}  // namespace

Result<OperatorPtr> make_sort(const PlanNode& node, const StepGrid& grid, EvalContext& context) {
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  // Matrices are in label order whatever was done here.
  if (context.grid.count > 1 || grid.count > 1) {
    if (grid.count > 1)
      context.warn(
          "sort is ineffective for range queries since results are always ordered by labels",
          node.expr->source);
    return input;
  }
  const std::string_view name = std::get<Call>(node.expr->node).function->name;
  const bool descending = name == "sort_desc" || name == "sort_by_label_desc";
  RowLess less;
  if (name == "sort" || name == "sort_desc") {
    less = by_value(descending);
  } else {
    std::vector<std::string> names;
    for (size_t i = 1; i < node.children.size(); ++i)
      names.push_back(string_argument(node.children[i]));
    less = by_labels(std::move(names), descending);
  }
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred([shared, less, &context]() -> Result<std::unique_ptr<Table>> {
    auto table = std::make_unique<Table>(1, context);
    VAGT_CHECK_OK(table->fill(*shared));
    reorder(table->rows(), less, context);
    VAGT_CHECK_OK(context.check());
    return table;
  });
}

}  // namespace vagt::query
