// Arithmetic and comparison between two vectors: one-to-one, and many-to-one with
// group_left/group_right.
//
// The "one" side is read first and indexed by match group; the "many" side streams past it.
// Prometheus matches step by step, so everything that depends on who is there at a step
// (duplicates, fill values) is kept per step here too.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "query/operators/binary_kernel.h"
#include "query/operators/build.h"
#include "query/operators/join_labels.h"
#include "query/operators/label_sets.h"

namespace vagt::query {
namespace {

using Card = VectorMatching::Card;
constexpr size_t kNobody = SIZE_MAX;

class Join final : public Operator {
 public:
  Join(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
       bool many_has_one_name, EvalContext& context)
      : binary_(binary),
        matching_(*binary.matching),
        swapped_(matching_.card == Card::OneToMany),
        many_(std::move(swapped_ ? rhs : lhs)),
        one_input_(std::move(swapped_ ? lhs : rhs)),
        // Prometheus swaps the sides of group_right but not their fill values.
        fill_many_(matching_.fill_lhs),
        fill_one_(matching_.fill_rhs),
        steps_(grid.count),
        many_has_one_name_(many_has_one_name),
        one_(grid.count, context),
        index_(LabelPick(matching_.labels, !matching_.on)),
        result_labels_(binary, context.options.delayed_name_removal) {}

  Result<bool> next(StepBatch& out) override {
    if (!ready_) VAGT_CHECK_OK(read_one_side());
    out.reset(steps_);
    while (!many_done_ && !out.full()) {
      VAGT_TRY(const bool more, many_->next(batch_));
      if (!more) {
        many_done_ = true;
        break;
      }
      for (size_t row = 0; row < batch_.rows(); ++row) VAGT_CHECK_OK(match_row(row, out));
    }
    if (many_done_ && fill_many_) {
      for (; filled_group_ < members_.size() && !out.full(); ++filled_group_)
        VAGT_CHECK_OK(fill_group(filled_group_, out));
    }
    return out.rows() > 0;
  }

 private:
  Status read_one_side() {
    ready_ = true;
    VAGT_CHECK_OK(one_.fill(*one_input_));
    const StepBatch& rows = one_.rows();
    for (size_t row = 0; row < rows.rows(); ++row) {
      const size_t group = index_.find_or_add(rows.labels[row]);
      if (group == members_.size()) members_.emplace_back();
      note_duplicates(group, row);
      members_[group].push_back(row);
    }
    first_rows_.clear();
    // With a value for missing ones every step is matched, so a duplicate is one whatever the other
    // side has.
    if (!duplicates_.empty() && fill_many_) return duplicate_error(duplicates_.begin()->first);
    return {};
  }

  // Each row is looked at once, however many share its group.
  void note_duplicates(size_t group, size_t row) {
    if (members_[group].empty()) return;
    std::vector<size_t>& first = first_rows_[group];
    if (first.empty()) {
      first.assign(steps_, kNobody);
      claim_steps(first, members_[group].front());
    }
    const std::span<const uint8_t> mask = std::as_const(one_).rows().mask(row);
    for (size_t i = 0; i < steps_; ++i) {
      if (mask[i] != 0 && first[i] != kNobody)
        duplicates_.try_emplace(i, Duplicate{group, first[i], row});
    }
    claim_steps(first, row);
  }

  void claim_steps(std::vector<size_t>& first, size_t row) const {
    const std::span<const uint8_t> mask = one_.rows().mask(row);
    for (size_t i = 0; i < steps_; ++i) {
      if (mask[i] != 0 && first[i] == kNobody) first[i] = row;
    }
  }

  Status duplicate_error(size_t step) const {
    const Duplicate& duplicate = duplicates_.at(step);
    const StepBatch& rows = one_.rows();
    return Status::invalid(
        "found duplicate series for the match group " +
        index_.groups()[duplicate.group].to_string() + " on the " + (swapped_ ? "left" : "right") +
        " hand-side of the operation: [" + rows.labels[duplicate.second].to_string() + ", " +
        rows.labels[duplicate.first].to_string() +
        "];many-to-many matching not allowed: matching labels must be unique on one side");
  }

  // One series of the many side against its partners.
  Status match_row(size_t row, StepBatch& out) {
    const std::span<const uint8_t> mask = std::as_const(batch_).mask(row);
    for (const auto& [step, duplicate] : duplicates_) {
      if (mask[step] != 0) return duplicate_error(step);
    }
    const Labels& labels = batch_.labels[row];
    size_t group = fill_one_ ? index_.find_or_add(labels) : index_.find(labels);
    if (group == GroupIndex::kNone) return {};
    if (group >= members_.size()) members_.resize(group + 1);
    VAGT_CHECK_OK(mark_matched(group, mask));
    const std::vector<size_t>& partners = members_[group];
    // Partners differ in the result only by the labels taken from them.
    if (matching_.include.empty() || (partners.size() == 1 && !fill_one_))
      return emit(row, group, kEveryone, out);
    for (size_t i = 0; i < partners.size(); ++i) VAGT_CHECK_OK(emit(row, group, i, out));
    return fill_one_ ? emit(row, group, kNobody, out) : Status();
  }

  // Which steps of a group have been matched; in one-to-one matching each may be once.
  Status mark_matched(size_t group, std::span<const uint8_t> mask) {
    const bool one_to_one = matching_.card == Card::OneToOne;
    if (!one_to_one && !fill_many_) return {};
    if (matched_.size() < members_.size()) matched_.resize(members_.size());
    std::vector<uint8_t>& matched = matched_[group];
    matched.resize(steps_);
    for (size_t i = 0; i < steps_; ++i) {
      if (mask[i] == 0 || (!fill_one_ && partner_at(group, i) == kNobody)) continue;
      if (one_to_one && matched[i] != 0)
        return Status::invalid(
            "multiple matches for labels: many-to-one matching must be explicit "
            "(group_left/group_right)");
      matched[i] = 1;
    }
    return {};
  }

  size_t partner_at(size_t group, size_t step) const {
    for (size_t row : members_[group]) {
      if (one_.rows().mask(row)[step] != 0) return row;
    }
    return kNobody;
  }

  // A result row of the many side's row with one of its partners (a position in members_), with all
  // of them, or with the fill value where there is nobody.
  static constexpr size_t kEveryone = SIZE_MAX - 1;
  Status emit(size_t row, size_t group, size_t which, StepBatch& out) {
    const std::vector<size_t>& partners = members_[group];
    const bool fills = fill_one_ && (which == kEveryone || which == kNobody);
    values_.assign(steps_, fills ? *fill_one_ : 0);
    mask_.assign(steps_, fills ? 1 : 0);
    for (size_t i = 0; i < partners.size(); ++i) {
      const std::span<const double> values = std::as_const(one_).rows().row(partners[i]);
      const std::span<const uint8_t> mask = std::as_const(one_).rows().mask(partners[i]);
      for (size_t step = 0; step < steps_; ++step) {
        if (mask[step] == 0) continue;
        values_[step] = values[step];
        mask_[step] = which == kEveryone || which == i ? 1 : 0;
      }
    }
    const std::span<const uint8_t> own = std::as_const(batch_).mask(row);
    for (size_t step = 0; step < steps_; ++step)
      mask_[step] = static_cast<uint8_t>(mask_[step] & own[step]);
    if (!any_present(mask_)) return {};
    const bool with_partner = which != kNobody && !partners.empty();
    const Labels partner = with_partner
                               ? one_.rows().labels[partners[which == kEveryone ? 0 : which]]
                               : index_.groups()[group];
    return put(batch_.labels[row], batch_.drop_name[row] != 0, partner, batch_.row(row), values_,
               group, out);
  }

  // What the one side has and nobody on the many side matched.
  Status fill_group(size_t group, StepBatch& out) {
    for (size_t row : members_[group]) {
      const std::span<const uint8_t> present = std::as_const(one_).rows().mask(row);
      mask_.assign(present.begin(), present.end());
      if (group < matched_.size() && !matched_[group].empty()) {
        for (size_t i = 0; i < steps_; ++i)
          mask_[i] = static_cast<uint8_t>(mask_[i] & (matched_[group][i] ^ 1));
      }
      if (!any_present(mask_)) continue;
      values_.assign(steps_, *fill_many_);
      VAGT_CHECK_OK(put(index_.groups()[group], false, one_.rows().labels[row], values_,
                        std::as_const(one_).rows().row(row), group, out));
    }
    return {};
  }

  // Computes a row from both sides' values under mask_.
  Status put(const Labels& many, bool drop_name, const Labels& one,
             std::span<const double> many_values, std::span<const double> one_values, size_t group,
             StepBatch& out) {
    const Labels labels = result_labels_.of(many, one);
    const std::span<const double> lhs = swapped_ ? one_values : many_values;
    const std::span<const double> rhs = swapped_ ? many_values : one_values;
    const size_t to = out.add(labels, drop_name || result_labels_.flags_name());
    std::copy(mask_.begin(), mask_.end(), out.mask(to).begin());
    VAGT_CHECK_OK(check_unique(labels, group));
    combine(binary_.op, binary_.return_bool, lhs, rhs, lhs, out.row(to), out.mask(to));
    if (!any_present(out.mask(to))) out.remove_last();
    return {};
  }

  // Many-to-one results may coincide where a name was dropped or a label was taken over another.
  Status check_unique(const Labels& result, size_t group) {
    if (matching_.card == Card::OneToOne) return {};
    if (many_has_one_name_ && matching_.include.empty()) return {};
    Emitted& emitted = emitted_[result];
    if (emitted.mask.empty()) {
      emitted = {group, {mask_.begin(), mask_.end()}};
      return {};
    }
    for (size_t i = 0; i < steps_; ++i) {
      if (emitted.mask[i] != 0 && mask_[i] != 0)
        return Status::invalid(
            emitted.group == group
                ? "multiple matches for labels: grouping labels must ensure unique matches"
                : "vector cannot contain metrics with the same labelset");
      emitted.mask[i] = static_cast<uint8_t>(emitted.mask[i] | mask_[i]);
    }
    return {};
  }

  struct Duplicate {
    size_t group, first, second;
  };
  struct Emitted {
    size_t group = 0;
    std::vector<uint8_t> mask;
  };

  const Binary& binary_;
  const VectorMatching& matching_;
  const bool swapped_;  // the many side is the right one
  const OperatorPtr many_, one_input_;
  const std::optional<double> fill_many_, fill_one_;
  const size_t steps_;
  const bool many_has_one_name_;

  Table one_;
  GroupIndex index_;
  ResultLabels result_labels_;
  std::vector<std::vector<size_t>> members_;  // group → rows of one_
  // Of groups with several members, while the one side is read: step → the first row there.
  std::unordered_map<size_t, std::vector<size_t>> first_rows_;
  std::map<size_t, Duplicate> duplicates_;     // step → two rows of one_ that collide there
  std::vector<std::vector<uint8_t>> matched_;  // group → steps
  std::unordered_map<Labels, Emitted, LabelsHash> emitted_;
  StepBatch batch_;
  std::vector<double> values_;
  std::vector<uint8_t> mask_;
  size_t filled_group_ = 0;
  bool ready_ = false, many_done_ = false;
};

}  // namespace

OperatorPtr make_join(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
                      bool many_has_one_name, EvalContext& context) {
  return std::make_unique<Join>(binary, std::move(lhs), std::move(rhs), grid, many_has_one_name,
                                context);
}

}  // namespace vagt::query
