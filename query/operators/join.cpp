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
constexpr uint32_t kNobody = UINT32_MAX;

// The steps from the first value of a row to its last.
struct Span {
  size_t begin = 0, end = 0;
  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};
Span span_of(std::span<const uint8_t> mask) {
  Span span{0, mask.size()};
  while (span.end > 0 && mask[span.end - 1] == 0) --span.end;
  while (span.begin < span.end && mask[span.begin] == 0) ++span.begin;
  return span;
}

class Join final : public Operator {
 public:
  Join(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
       bool many_has_one_name, EvalContext& context)
      : binary_(binary),
        context_(context),
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
  ~Join() override { context_.release(held_); }

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
    spans_.reserve(rows.rows());
    for (size_t row = 0; row < rows.rows(); ++row) {
      if (!context_.may_go_on(steps_)) return context_.check();
      spans_.push_back(span_of(rows.mask(row)));
      const size_t group = index_.find_or_add(rows.labels[row]);
      if (group == members_.size()) members_.emplace_back();
      VAGT_CHECK_OK(note_owners(group, row));
      members_[group].push_back(row);
    }
    // With a value for missing ones every step is matched, so a duplicate is one whatever the other
    // side has.
    if (!duplicates_.empty() && fill_many_) return duplicate_error(duplicates_.begin()->first);
    return {};
  }

  // Each row is looked at once, however many share its group.
  Status note_owners(size_t group, size_t row) {
    if (members_[group].empty()) return {};
    std::vector<uint32_t>& owners = owners_[group];
    if (owners.empty()) {
      VAGT_CHECK_OK(hold(steps_ / 2 + 1));
      owners.assign(steps_, kNobody);
      claim_steps(owners, members_[group].front());
    }
    const std::span<const uint8_t> mask = std::as_const(one_).rows().mask(row);
    for (size_t i = spans_[row].begin; i < spans_[row].end; ++i) {
      if (mask[i] != 0 && owners[i] != kNobody)
        duplicates_.try_emplace(i, Duplicate{group, owners[i], row});
    }
    claim_steps(owners, row);
    return {};
  }

  void claim_steps(std::vector<uint32_t>& owners, size_t row) const {
    const std::span<const uint8_t> mask = one_.rows().mask(row);
    for (size_t i = spans_[row].begin; i < spans_[row].end; ++i) {
      if (mask[i] != 0 && owners[i] == kNobody) owners[i] = static_cast<uint32_t>(row);
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
    // Most partners of a series that changes its labels now and then were there at other times.
    const Span own = span_of(mask);
    if (!context_.may_go_on(partners.size())) return context_.check();
    for (size_t i = 0; i < partners.size(); ++i) {
      if (spans_[partners[i]].overlaps(own)) VAGT_CHECK_OK(emit(row, group, i, out));
    }
    return fill_one_ ? emit(row, group, kFilled, out) : Status();
  }

  // Which steps of a group have been matched; in one-to-one matching each may be once.
  Status mark_matched(size_t group, std::span<const uint8_t> mask) {
    const bool one_to_one = matching_.card == Card::OneToOne;
    if (!one_to_one && !fill_many_) return {};
    if (matched_.size() < members_.size()) matched_.resize(members_.size());
    std::vector<uint8_t>& matched = matched_[group];
    if (matched.empty()) {
      VAGT_CHECK_OK(hold(steps_ / 8 + 1));
      matched.resize(steps_);
    }
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

  // Who of the one side has a value of the group at each step; null: nobody ever, or `only` alone.
  const uint32_t* owners_of(size_t group) const {
    const auto it = owners_.find(group);
    return it == owners_.end() ? nullptr : it->second.data();
  }

  uint32_t partner_at(size_t group, size_t step) const {
    if (const uint32_t* owners = owners_of(group)) return owners[step];
    if (members_[group].empty()) return kNobody;
    const size_t only = members_[group].front();
    return one_.rows().mask(only)[step] != 0 ? static_cast<uint32_t>(only) : kNobody;
  }

  // A result row of the many side's row with one of its partners (a position in members_), with all
  // of them, or with the fill value where there is nobody.
  static constexpr size_t kEveryone = SIZE_MAX - 1, kFilled = SIZE_MAX;
  Status emit(size_t row, size_t group, size_t which, StepBatch& out) {
    if (!context_.may_go_on(steps_)) return context_.check();
    const std::vector<size_t>& partners = members_[group];
    const std::span<const uint8_t> own = std::as_const(batch_).mask(row);
    values_.assign(steps_, fill_one_.value_or(0));
    mask_.assign(steps_, 0);
    if (which < partners.size() || (partners.size() == 1 && which == kEveryone && !fill_one_)) {
      take_row(partners[which == kEveryone ? 0 : which]);
    } else {
      take_owners(group, which != kFilled, fill_one_.has_value());
    }
    for (size_t step = 0; step < steps_; ++step)
      mask_[step] = static_cast<uint8_t>(mask_[step] & own[step]);
    if (!any_present(mask_)) return {};
    const bool with_partner = which != kFilled && !partners.empty();
    const Labels partner = with_partner
                               ? one_.rows().labels[partners[which == kEveryone ? 0 : which]]
                               : index_.groups()[group];
    return put(batch_.labels[row], batch_.drop_name[row] != 0, partner, batch_.row(row), values_,
               group, out);
  }

  void take_row(size_t row) {
    const std::span<const double> values = std::as_const(one_).rows().row(row);
    const std::span<const uint8_t> mask = std::as_const(one_).rows().mask(row);
    std::copy(values.begin(), values.end(), values_.begin());
    std::copy(mask.begin(), mask.end(), mask_.begin());
  }

  // Values of whoever has one at each step; elsewhere the value to fill in.
  void take_owners(size_t group, bool owned, bool filled) {
    for (size_t step = 0; step < steps_; ++step) {
      const uint32_t owner = partner_at(group, step);
      if (owner == kNobody) {
        mask_[step] = filled ? 1 : 0;
      } else if (owned) {
        values_[step] = std::as_const(one_).rows().row(owner)[step];
        mask_[step] = 1;
      }
    }
  }

  // What the one side has and nobody on the many side matched.
  Status fill_group(size_t group, StepBatch& out) {
    for (size_t row : members_[group]) {
      if (!context_.may_go_on(steps_)) return context_.check();
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
      VAGT_CHECK_OK(hold(steps_ / 8 + 1));
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

  Status hold(size_t samples) {
    held_ += samples;
    return context_.hold(samples);
  }

  struct Duplicate {
    size_t group, first, second;
  };
  struct Emitted {
    size_t group = 0;
    std::vector<uint8_t> mask;
  };

  const Binary& binary_;
  EvalContext& context_;
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
  std::vector<Span> spans_;                   // by row of one_
  // Of groups with several members: step → the first row there.
  std::unordered_map<size_t, std::vector<uint32_t>> owners_;
  std::map<size_t, Duplicate> duplicates_;     // step → two rows of one_ that collide there
  std::vector<std::vector<uint8_t>> matched_;  // group → steps
  std::unordered_map<Labels, Emitted, LabelsHash> emitted_;
  StepBatch batch_;
  std::vector<double> values_;
  std::vector<uint8_t> mask_;
  size_t filled_group_ = 0, held_ = 0;
  bool ready_ = false, many_done_ = false;
};

}  // namespace

OperatorPtr make_join(const Binary& binary, OperatorPtr lhs, OperatorPtr rhs, const StepGrid& grid,
                      bool many_has_one_name, EvalContext& context) {
  return std::make_unique<Join>(binary, std::move(lhs), std::move(rhs), grid, many_has_one_name,
                                context);
}

}  // namespace vagt::query
