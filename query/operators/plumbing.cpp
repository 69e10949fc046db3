// Operators that only pass rows on: tables, maps, repetition, merging.
#include <unordered_map>

#include "query/operators/build.h"

namespace vagt::query {
namespace {

class Map final : public Operator {
 public:
  Map(OperatorPtr input, std::function<Status(StepBatch&)> change)
      : input_(std::move(input)), change_(std::move(change)) {}
  Result<bool> next(StepBatch& out) override {
    VAGT_TRY(const bool more, input_->next(out));
    if (more) VAGT_CHECK_OK(change_(out));
    return more;
  }

 private:
  const OperatorPtr input_;
  const std::function<Status(StepBatch&)> change_;
};

// Hands out a table's rows in batches, each once.
class Deferred final : public Operator {
 public:
  explicit Deferred(std::function<Result<std::unique_ptr<Table>>()> make)
      : make_(std::move(make)) {}
  Result<bool> next(StepBatch& out) override {
    if (!table_) {
      VAGT_TRY(table_, make_());
    }
    StepBatch& rows = table_->rows();
    out.reset(rows.steps());
    for (; position_ < rows.rows() && !out.full(); ++position_) {
      const std::span<const uint8_t> mask = std::as_const(rows).mask(position_);
      if (!any_present(mask)) continue;
      const size_t row = out.add(std::move(rows.labels[position_]), rows.drop_name[position_] != 0);
      const std::span<const double> values = std::as_const(rows).row(position_);
      std::copy(values.begin(), values.end(), out.row(row).begin());
      std::copy(mask.begin(), mask.end(), out.mask(row).begin());
    }
    return out.rows() > 0;
  }

 private:
  const std::function<Result<std::unique_ptr<Table>>()> make_;
  std::unique_ptr<Table> table_;
  size_t position_ = 0;
};

class Repeat final : public Operator {
 public:
  Repeat(OperatorPtr input, size_t steps) : input_(std::move(input)), steps_(steps) {}
  Result<bool> next(StepBatch& out) override {
    out.reset(steps_);
    while (!out.full()) {
      if (position_ == single_.rows()) {
        VAGT_TRY(const bool more, input_->next(single_));
        position_ = 0;
        if (!more) break;
      }
      if (single_.present[position_] != 0) {
        const size_t row =
            out.add(std::move(single_.labels[position_]), single_.drop_name[position_] != 0);
        std::fill(out.row(row).begin(), out.row(row).end(), single_.values[position_]);
        std::fill(out.mask(row).begin(), out.mask(row).end(), uint8_t{1});
      }
      ++position_;
    }
    return out.rows() > 0;
  }

 private:
  const OperatorPtr input_;
  const size_t steps_;
  StepBatch single_;
  size_t position_ = 0;
};

// Adds row `from` of `rows` into row `to`. False: both have a value at some step.
bool fold_row(StepBatch& rows, size_t to, size_t from) {
  const std::span<double> into = rows.row(to), values = rows.row(from);
  const std::span<uint8_t> into_mask = rows.mask(to), mask = rows.mask(from);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    if (into_mask[i] != 0) return false;
    into[i] = values[i];
    into_mask[i] = 1;
    mask[i] = 0;
  }
  return true;
}

Status merge_equal_labels(StepBatch& rows) {
  std::unordered_map<Labels, size_t, LabelsHash> seen;
  seen.reserve(rows.rows());
  for (size_t i = 0; i < rows.rows(); ++i) {
    if (!any_present(rows.mask(i))) continue;
    const auto [first, is_new] = seen.try_emplace(rows.labels[i], i);
    if (is_new) continue;
    // With names still to be dropped two rows may differ in that alone.
    if (!fold_row(rows, first->second, i))
      return Status::invalid("vector cannot contain metrics with the same labelset");
  }
  return {};
}

}  // namespace

Status Table::fill(Operator& input) {
  StepBatch batch;
  while (true) {
    VAGT_CHECK_OK(context_.check());
    VAGT_TRY(const bool more, input.next(batch));
    if (!more) return {};
    held_ += batch.values.size();
    VAGT_CHECK_OK(context_.hold(batch.values.size()));
    if (rows_.rows() == 0) {
      std::swap(rows_, batch);
      continue;
    }
    rows_.labels.insert(rows_.labels.end(), std::make_move_iterator(batch.labels.begin()),
                        std::make_move_iterator(batch.labels.end()));
    rows_.drop_name.insert(rows_.drop_name.end(), batch.drop_name.begin(), batch.drop_name.end());
    rows_.values.insert(rows_.values.end(), batch.values.begin(), batch.values.end());
    rows_.present.insert(rows_.present.end(), batch.present.begin(), batch.present.end());
  }
}

Status Table::recount() {
  const size_t now = rows_.values.size();
  context_.release(held_);
  held_ = now;
  return context_.hold(now);
}

OperatorPtr make_map(OperatorPtr input, std::function<Status(StepBatch&)> change) {
  return std::make_unique<Map>(std::move(input), std::move(change));
}

OperatorPtr make_deferred(std::function<Result<std::unique_ptr<Table>>()> make) {
  return std::make_unique<Deferred>(std::move(make));
}

OperatorPtr make_repeat(OperatorPtr single_step, size_t steps) {
  return std::make_unique<Repeat>(std::move(single_step), steps);
}

OperatorPtr make_merge(OperatorPtr input, size_t steps, EvalContext& context) {
  // std::function wants something it can copy.
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred([shared, steps, &context]() -> Result<std::unique_ptr<Table>> {
    auto table = std::make_unique<Table>(steps, context);
    VAGT_CHECK_OK(table->fill(*shared));
    VAGT_CHECK_OK(merge_equal_labels(table->rows()));
    return table;
  });
}

}  // namespace vagt::query
