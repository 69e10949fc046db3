// topk, bottomk, limitk, limit_ratio: aggregations that let some of their input series through. The
// input streams past; what is held follows from what may still be let through.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/numbers.h"

namespace vagt::query {
namespace {

// One of the k best: its value and its row among those remembered.
struct Candidate {
  double v;
  uint32_t row;
};

// The worst of those kept is on top. Which of several equal values leaves follows from the heap's
// moves, so they are the moves of Go's container/heap.
class WorstFirst {
 public:
  WorstFirst(std::vector<Candidate>& heap, bool largest) : heap_(heap), largest_(largest) {}

  bool takes(double v, size_t k) const {
    if (heap_.size() < k) return true;
    const double worst = heap_.front().v;
    return (largest_ ? worst < v : worst > v) || (std::isnan(worst) && !std::isnan(v));
  }
  // Of a value that it takes. True: one more is kept now.
  bool push(Candidate candidate, size_t k) {
    if (heap_.size() < k) {
      heap_.push_back(candidate);
      up(heap_.size() - 1);
      return true;
    }
    heap_.front() = candidate;
    down(0);
    return false;
  }
  // Best first, NaN last.
  void sort() {
    std::stable_sort(heap_.begin(), heap_.end(), [this](const Candidate& a, const Candidate& b) {
      if (std::isnan(a.v) || std::isnan(b.v)) return !std::isnan(a.v) && std::isnan(b.v);
      return largest_ ? a.v > b.v : a.v < b.v;
    });
  }

 private:
  bool less(size_t i, size_t j) const {
    const double a = heap_[i].v, b = heap_[j].v;
    if (std::isnan(a)) return true;
    return largest_ ? a < b : a > b;
  }
  void up(size_t j) {
    while (j > 0) {
      const size_t parent = (j - 1) / 2;
      if (!less(j, parent)) return;
      std::swap(heap_[j], heap_[parent]);
      j = parent;
    }
  }
  void down(size_t i) {
    while (2 * i + 1 < heap_.size()) {
      size_t child = 2 * i + 1;
      if (child + 1 < heap_.size() && less(child + 1, child)) ++child;
      if (!less(child, i)) return;
      std::swap(heap_[i], heap_[child]);
      i = child;
    }
  }

  std::vector<Candidate>& heap_;
  const bool largest_;
};

// Where a series falls in [0, 1), evenly and the same at every evaluation.
double place_of(const Labels& labels) {
  uint64_t hash = labels.fingerprint();
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  hash ^= hash >> 33U;
  return static_cast<double>(hash) / 18446744073709551616.0;
}

bool within_ratio(double place, double ratio) {
  return (ratio >= 0 && place < ratio) || (ratio < 0 && place >= 1 + ratio);
}

struct Selection {
  AggregateOp op;
  std::vector<double> parameter;  // k or ratio, by step
  LabelPick pick;
};

size_t count_at(const Selection& selection, size_t step) {
  const double k = selection.parameter[step];
  return k < 1 ? 0 : static_cast<size_t>(std::min(k, 1e15));
}

// topk and bottomk: only what is among the k best so far is held, so the input streams.
class Ranking {
 public:
  Ranking(const Selection& selection, EvalContext& context)
      : selection_(selection),
        steps_(selection.parameter.size()),
        largest_(selection.op == AggregateOp::Topk),
        context_(context),
        index_(selection.pick) {}
  ~Ranking() { context_.release(held_); }
  Ranking(const Ranking&) = delete;
  Ranking& operator=(const Ranking&) = delete;

  Status add(const StepBatch& batch, size_t row) {
    const std::span<const uint8_t> mask = batch.mask(row);
    const std::span<const double> values = batch.row(row);
    size_t group = GroupIndex::kNone;
    bool remembered = false;
    for (size_t step = 0; step < steps_; ++step) {
      const size_t k = count_at(selection_, step);
      if (mask[step] == 0 || k == 0) continue;
      if (group == GroupIndex::kNone) VAGT_CHECK_OK(find_group(batch.labels[row], group));
      WorstFirst heap(heaps_[group * steps_ + step], largest_);
      if (!heap.takes(values[step], k)) continue;
      if (!remembered) {
        remembered = true;
        labels_.push_back(batch.labels[row]);
        drop_name_.push_back(batch.drop_name[row]);
        VAGT_CHECK_OK(hold(1));
      }
      const auto id = static_cast<uint32_t>(labels_.size() - 1);
      if (heap.push({values[step], id}, k)) VAGT_CHECK_OK(hold(1));
    }
    return {};
  }

  // Group by group, in the order of an instant query's answer.
  Result<std::unique_ptr<Table>> finish() {
    auto table = std::make_unique<Table>(steps_, context_);
    StepBatch& out = table->rows();
    std::vector<size_t> rows(labels_.size(), SIZE_MAX);
    for (size_t step = 0; step < steps_; ++step) {
      VAGT_CHECK_OK(context_.check());
      for (size_t group = 0; group < index_.size(); ++group) {
        std::vector<Candidate>& best = heaps_[group * steps_ + step];
        if (!context_.may_go_on(best.size() * kSortCost)) return context_.check();
        WorstFirst(best, largest_).sort();
        for (const Candidate& each : best) {
          size_t& row = rows[each.row];
          if (row == SIZE_MAX) {
            row = out.add(labels_[each.row], drop_name_[each.row] != 0);
            VAGT_CHECK_OK(table->recount());
          }
          out.row(row)[step] = each.v;
          out.mask(row)[step] = 1;
        }
      }
    }
    return table;
  }

 private:
  Status find_group(const Labels& labels, size_t& group) {
    group = index_.find_or_add(labels);
    if ((group + 1) * steps_ <= heaps_.size()) return {};
    heaps_.resize((group + 1) * steps_);
    return hold(steps_ * 2);
  }
  Status hold(size_t samples) {
    held_ += samples;
    return context_.hold(samples);
  }

  static constexpr size_t kSortCost = 16;

  const Selection& selection_;
  const size_t steps_;
  const bool largest_;
  EvalContext& context_;
  GroupIndex index_;
  std::vector<std::vector<Candidate>> heaps_;  // groups × steps
  std::vector<Labels> labels_;                 // of rows that were among the best at some time
  std::vector<uint8_t> drop_name_;
  size_t held_ = 0;
};

Result<std::unique_ptr<Table>> rank(Operator& input, const Selection& selection,
                                    EvalContext& context) {
  Ranking ranking(selection, context);
  StepBatch batch;
  while (true) {
    VAGT_CHECK_OK(context.check());
    VAGT_TRY(const bool more, input.next(batch));
    if (!more) return ranking.finish();
    for (size_t row = 0; row < batch.rows(); ++row) VAGT_CHECK_OK(ranking.add(batch, row));
  }
}

// limitk: the first k of each group. limit_ratio: those whose place falls within the ratio.
class Limit final : public Operator {
 public:
  Limit(Selection selection, OperatorPtr input, EvalContext& context)
      : selection_(std::move(selection)),
        steps_(selection_.parameter.size()),
        by_ratio_(selection_.op == AggregateOp::LimitRatio),
        input_(std::move(input)),
        context_(context),
        index_(selection_.pick) {}
  ~Limit() override { context_.release(held_); }

  Result<bool> next(StepBatch& out) override {
    out.reset(steps_);
    while (out.rows() == 0) {
      VAGT_TRY(const bool more, input_->next(batch_));
      if (!more) return false;
      for (size_t row = 0; row < batch_.rows(); ++row) {
        const std::span<uint8_t> mask = batch_.mask(row);
        if (by_ratio_) {
          within(place_of(batch_.labels[row]), mask);
        } else {
          VAGT_CHECK_OK(count(batch_.labels[row], mask));
        }
        if (!any_present(mask)) continue;
        const size_t to = out.add(std::move(batch_.labels[row]), batch_.drop_name[row] != 0);
        std::copy(mask.begin(), mask.end(), out.mask(to).begin());
        const std::span<const double> values = std::as_const(batch_).row(row);
        std::copy(values.begin(), values.end(), out.row(to).begin());
      }
    }
    return true;
  }

 private:
  void within(double place, std::span<uint8_t> mask) const {
    for (size_t step = 0; step < steps_; ++step) {
      if (!within_ratio(place, selection_.parameter[step])) mask[step] = 0;
    }
  }
  Status count(const Labels& labels, std::span<uint8_t> mask) {
    if (!any_present(mask)) return {};
    const size_t group = index_.find_or_add(labels);
    if ((group + 1) * steps_ > passed_.size()) {
      passed_.resize((group + 1) * steps_);
      held_ += steps_;
      VAGT_CHECK_OK(context_.hold(steps_));
    }
    uint64_t* passed = &passed_[group * steps_];
    for (size_t step = 0; step < steps_; ++step) {
      if (mask[step] == 0) continue;
      if (passed[step] < count_at(selection_, step)) {
        ++passed[step];
      } else {
        mask[step] = 0;
      }
    }
    return {};
  }

  const Selection selection_;
  const size_t steps_;
  const bool by_ratio_;
  const OperatorPtr input_;
  EvalContext& context_;
  GroupIndex index_;
  std::vector<uint64_t> passed_;  // groups × steps
  size_t held_ = 0;
  StepBatch batch_;
};

Status check_counts(const std::vector<double>& k) {
  constexpr double kLimit = 9'223'372'036'854'775'808.0;
  for (double v : k) {
    if (std::isnan(v)) return Status::invalid("Parameter value is NaN");
  }
  const auto [lowest, highest] = std::minmax_element(k.begin(), k.end());
  if (*lowest <= -kLimit)
    return Status::invalid("Scalar value " + format_float_g(*lowest) + " underflows int64");
  if (*highest >= kLimit)
    return Status::invalid("Scalar value " + format_float_g(*highest) + " overflows int64");
  return {};
}

Status cap_ratios(std::vector<double>& ratios, Source at, EvalContext& context) {
  for (double v : ratios) {
    if (std::isnan(v)) return Status::invalid("Ratio value is NaN");
  }
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  const auto warn = [&](double v, int cap) {
    context.warn("ratio value should be between -1 and 1, got " + format_float_g(v) +
                     ", capping to " + std::to_string(cap),
                 at);
  };
  if (*highest > 1) warn(*highest, 1);
  if (*lowest < -1) warn(*lowest, -1);
  for (double& v : ratios) v = std::clamp(v, -1.0, 1.0);
  return {};
}

}  // namespace

Result<OperatorPtr> make_select_k(const PlanNode& node, OperatorPtr input, const StepGrid& grid,
                                  EvalContext& context) {
  const auto& aggregate = std::get<Aggregate>(node.expr->node);
  VAGT_TRY(std::vector<double> parameter, eval_scalar(node.children[1], grid, context));
  if (aggregate.op == AggregateOp::LimitRatio) {
    VAGT_CHECK_OK(cap_ratios(parameter, aggregate.param->source, context));
  } else {
    VAGT_CHECK_OK(check_counts(parameter));
  }
  Selection selection{aggregate.op, std::move(parameter),
                      LabelPick(aggregate.grouping, aggregate.without)};
  if (aggregate.op == AggregateOp::Limitk || aggregate.op == AggregateOp::LimitRatio)
    return OperatorPtr(std::make_unique<Limit>(std::move(selection), std::move(input), context));
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred([shared, selection = std::move(selection), &context] {
    return rank(*shared, selection, context);
  });
}

}  // namespace vagt::query
