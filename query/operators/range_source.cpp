#include "query/operators/range_source.h"

#include <algorithm>

#include "query/operators/build.h"
#include "query/operators/selector_read.h"
#include "query/operators/times.h"

namespace vagt::query {
namespace {

class MatrixSource final : public RangeSource {
 public:
  MatrixSource(const Expr& expr, std::string_view function, EvalContext& context)
      : read_(context, expr,
              std::get<VectorSelector>(
                  without_parens(*std::get<MatrixSelector>(expr.node).vector).node),
              function) {}

  Result<bool> next() override {
    VAGT_TRY(const bool more, read_.next());
    if (!more) return false;
    const SampleColumns& raw = read_.samples();
    samples_ = &raw;
    if (std::any_of(raw.v.begin(), raw.v.end(), is_stale)) {
      kept_.clear();
      for (size_t i = 0; i < raw.size(); ++i) {
        if (!is_stale(raw.v[i])) kept_.push(raw.t[i], raw.v[i]);
      }
      samples_ = &kept_;
    }
    return true;
  }
  const Labels& labels() const override { return read_.labels(); }
  bool drop_name() const override { return false; }
  const SampleColumns& samples() const override { return *samples_; }

 private:
  SelectorRead read_;
  SampleColumns kept_;
  const SampleColumns* samples_ = nullptr;
};

class SubquerySource final : public RangeSource {
 public:
  SubquerySource(OperatorPtr inner, const StepGrid& grid, EvalContext& context)
      : inner_(std::move(inner)), grid_(grid), context_(context) {}
  ~SubquerySource() override { context_.release(held_); }

  Result<bool> next() override {
    if (!inner_) return false;  // no step falls into the range
    VAGT_CHECK_OK(context_.check());
    if (held_ == 0) {  // a row and its samples
      held_ = grid_.count * 2;
      VAGT_CHECK_OK(context_.hold(held_));
    }
    if (++row_ >= batch_.rows()) {
      VAGT_TRY(const bool more, inner_->next(batch_));
      if (!more) return false;
      row_ = 0;
    }
    samples_.clear();
    const std::span<const double> values = std::as_const(batch_).row(row_);
    const std::span<const uint8_t> mask = std::as_const(batch_).mask(row_);
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0) samples_.push(grid_.at(i), values[i]);
    }
    return true;
  }
  const Labels& labels() const override { return batch_.labels[row_]; }
  bool drop_name() const override { return batch_.drop_name[row_] != 0; }
  const SampleColumns& samples() const override { return samples_; }

 private:
  const OperatorPtr inner_;
  const StepGrid grid_;
  EvalContext& context_;
  StepBatch batch_;
  size_t row_ = 0, held_ = 0;
  SampleColumns samples_;
};

// True: no two rows of the node can have the same labels. A window function must see a series as
// one row.
bool has_unique_rows(const PlanNode& node) {
  if (std::holds_alternative<VectorSelector>(node.expr->node)) return true;
  if (std::holds_alternative<Aggregate>(node.expr->node)) return true;
  if (std::holds_alternative<Unary>(node.expr->node)) return has_unique_rows(node.children[0]);
  if (!std::holds_alternative<Call>(node.expr->node)) return false;
  for (const PlanNode& child : node.children) {
    if (child.expr->type == ValueType::Vector && !has_unique_rows(child)) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<RangeSource>> make_range_source(const PlanNode& node, const StepGrid& grid,
                                                       std::string_view function,
                                                       EvalContext& context) {
  if (std::holds_alternative<MatrixSelector>(node.expr->node))
    return std::unique_ptr<RangeSource>(
        std::make_unique<MatrixSource>(*node.expr, function, context));
  const StepGrid inner_grid = subquery_grid(context.times.at(node.expr), grid);
  OperatorPtr inner;
  if (inner_grid.count > 0) {
    VAGT_TRY(inner, make_operator(node.children[0], inner_grid, context));
    if (!has_unique_rows(node.children[0]) || context.options.delayed_name_removal)
      inner = make_merge(std::move(inner), inner_grid.count, context);
  }
  return std::unique_ptr<RangeSource>(
      std::make_unique<SubquerySource>(std::move(inner), inner_grid, context));
}

}  // namespace vagt::query
