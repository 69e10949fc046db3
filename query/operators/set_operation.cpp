// and, or, unless: by presence alone, step by step.
#include <vector>

#include "query/operators/build.h"
#include "query/operators/label_sets.h"

namespace vagt::query {
namespace {

// For each match group the steps at which any of its series has a value.
class Presence {
 public:
  Presence(const VectorMatching& matching, size_t steps, EvalContext& context)
      : index_(LabelPick(matching.labels, !matching.on)), steps_(steps), context_(context) {}
  ~Presence() { context_.release(held_); }

  Status add(const StepBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const size_t group = index_.find_or_add(batch.labels[row]);
      if (index_.size() * steps_ > cells_.size()) {
        cells_.resize(index_.size() * steps_);
        held_ += steps_;
        VAGT_CHECK_OK(context_.hold(steps_));
      }
      const std::span<const uint8_t> mask = batch.mask(row);
      uint8_t* cells = &cells_[group * steps_];
      for (size_t i = 0; i < steps_; ++i) cells[i] = static_cast<uint8_t>(cells[i] | mask[i]);
    }
    return {};
  }
  // Null: the group never has one.
  const uint8_t* find(const Labels& labels) const {
    const size_t group = index_.find(labels);
    return group == GroupIndex::kNone ? nullptr : &cells_[group * steps_];
  }

 private:
  GroupIndex index_;
  const size_t steps_;
  EvalContext& context_;
  std::vector<uint8_t> cells_;
  size_t held_ = 0;
};

// Leaves the values at steps where the other side's presence is `wanted`; drops rows left empty.
void keep_where(StepBatch& batch, const Presence& other, bool wanted) {
  StepBatch kept(batch.steps());
  for (size_t row = 0; row < batch.rows(); ++row) {
    const uint8_t* present = other.find(batch.labels[row]);
    if (present == nullptr && wanted) continue;
    const std::span<uint8_t> mask = batch.mask(row);
    if (present != nullptr) {
      for (size_t i = 0; i < mask.size(); ++i)
        mask[i] = static_cast<uint8_t>(mask[i] & (present[i] ^ (wanted ? 0 : 1)));
    }
    if (!any_present(mask)) continue;
    const size_t to = kept.add(std::move(batch.labels[row]), batch.drop_name[row] != 0);
    std::copy(batch.row(row).begin(), batch.row(row).end(), kept.row(to).begin());
    std::copy(mask.begin(), mask.end(), kept.mask(to).begin());
  }
  batch = std::move(kept);
}

class SetOperation final : public Operator {
 public:
  SetOperation(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
               EvalContext& context)
      : op_(binary.op),
        lhs_(std::move(lhs)),
        rhs_(std::move(rhs)),
        presence_(*binary.matching, grid.count, context) {}

  Result<bool> next(StepBatch& out) override {
    return op_ == BinaryOp::Or ? next_or(out) : next_filtered(out);
  }

 private:
  Result<bool> next_filtered(StepBatch& out) {
    if (!other_read_) {
      other_read_ = true;
      while (true) {
        VAGT_TRY(const bool more, rhs_->next(out));
        if (!more) break;
        VAGT_CHECK_OK(presence_.add(out));
      }
    }
    while (true) {
      VAGT_TRY(const bool more, lhs_->next(out));
      if (!more) return false;
      keep_where(out, presence_, op_ == BinaryOp::And);
      if (out.rows() > 0) return true;
    }
  }

  // All of the left side, then what the right side has where the left had nothing.
  Result<bool> next_or(StepBatch& out) {
    if (!other_read_) {
      VAGT_TRY(const bool more, lhs_->next(out));
      if (more) {
        VAGT_CHECK_OK(presence_.add(out));
        return true;
      }
      other_read_ = true;
    }
    while (true) {
      VAGT_TRY(const bool more, rhs_->next(out));
      if (!more) return false;
      keep_where(out, presence_, false);
      if (out.rows() > 0) return true;
    }
  }

  const BinaryOp op_;
  const OperatorPtr lhs_, rhs_;
  Presence presence_;
  bool other_read_ = false;
};

}  // namespace

OperatorPtr make_set_operation(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs,
                               const StepGrid& grid, EvalContext& context) {
  return std::make_unique<SetOperation>(binary, std::move(lhs), std::move(rhs), grid, context);
}

}  // namespace vagt::query
