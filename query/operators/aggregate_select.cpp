// topk, bottomk, limitk, limit_ratio: aggregations that let some of their input series through.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/numbers.h"

namespace vagt::query {
namespace {

// The worst of those kept is on top. Which of several equal values leaves follows from the heap's
// moves, so they are the moves of Go's container/heap.
class WorstFirst {
 public:
  WorstFirst(const StepBatch& rows, size_t step, bool largest)
      : rows_(rows), step_(step), largest_(largest) {}

  void offer(size_t row, size_t k) {
    if (heap_.size() < k) {
      heap_.push_back(row);
      up(heap_.size() - 1);
      return;
    }
    const double worst = value(heap_[0]), v = value(row);
    const bool better = largest_ ? worst < v : worst > v;
    if (!better && !(std::isnan(worst) && !std::isnan(v))) return;
    heap_[0] = row;
    down(0);
  }
  // Best first, NaN last.
  const std::vector<size_t>& sorted() {
    std::stable_sort(heap_.begin(), heap_.end(), [this](size_t a, size_t b) {
      const double x = value(a), y = value(b);
      if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
      return largest_ ? x > y : x < y;
    });
    return heap_;
  }
  void clear(size_t step) {
    heap_.clear();
    step_ = step;
  }

 private:
  double value(size_t row) const { return rows_.row(row)[step_]; }
  bool less(size_t i, size_t j) const {
    const double a = value(heap_[i]), b = value(heap_[j]);
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

  const StepBatch& rows_;
  size_t step_;
  const bool largest_;
  std::vector<size_t> heap_;
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

class Selector {
 public:
  Selector(const Selection& selection, const StepBatch& in) : selection_(selection), in_(in) {
    GroupIndex index(selection.pick);
    for (size_t row = 0; row < in.rows(); ++row) {
      const size_t group = index.find_or_add(in.labels[row]);
      if (group == members_.size()) members_.emplace_back();
      members_[group].push_back(row);
    }
    if (selection.op == AggregateOp::LimitRatio) {
      for (size_t row = 0; row < in.rows(); ++row) places_.push_back(place_of(in.labels[row]));
    }
  }

  // Calls `take(row, step)` for what is let through, group by group, in the order of an instant
  // query's answer.
  template <class Take>
  Status run(EvalContext& context, Take&& take) {
    const bool ranked = selection_.op == AggregateOp::Topk || selection_.op == AggregateOp::Bottomk;
    WorstFirst heap(in_, 0, selection_.op == AggregateOp::Topk);
    for (size_t step = 0; step < in_.steps(); ++step) {
      VAGT_CHECK_OK(context.check());
      for (const std::vector<size_t>& members : members_) {
        if (ranked) {
          heap.clear(step);
          rank(members, step, heap, take);
        } else {
          pass(members, step, take);
        }
      }
    }
    return {};
  }

 private:
  size_t count_at(size_t step) const {
    const double k = selection_.parameter[step];
    return k < 1 ? 0 : static_cast<size_t>(std::min(k, 1e15));
  }

  template <class Take>
  void rank(const std::vector<size_t>& members, size_t step, WorstFirst& heap, Take& take) {
    const size_t k = count_at(step);
    if (k == 0) return;
    for (size_t row : members) {
      if (in_.mask(row)[step] != 0) heap.offer(row, k);
    }
    for (size_t row : heap.sorted()) take(row, step);
  }

  template <class Take>
  void pass(const std::vector<size_t>& members, size_t step, Take& take) {
    const bool by_ratio = selection_.op == AggregateOp::LimitRatio;
    size_t left = by_ratio ? members.size() : count_at(step);
    for (size_t row : members) {
      if (left == 0) return;
      if (in_.mask(row)[step] == 0) continue;
      if (by_ratio && !within_ratio(places_[row], selection_.parameter[step])) continue;
      take(row, step);
      --left;
    }
  }

  const Selection& selection_;
  const StepBatch& in_;
  std::vector<std::vector<size_t>> members_;
  std::vector<double> places_;
};

Result<std::unique_ptr<Table>> select(Operator& input, const Selection& selection,
                                      EvalContext& context) {
  Table all(selection.parameter.size(), context);
  VAGT_CHECK_OK(all.fill(input));
  StepBatch& in = all.rows();
  Selector selector(selection, in);
  auto table = std::make_unique<Table>(in.steps(), context);
  StepBatch& out = table->rows();
  std::vector<size_t> rows(in.rows(), SIZE_MAX);
  VAGT_CHECK_OK(selector.run(context, [&](size_t row, size_t step) {
    if (rows[row] == SIZE_MAX) rows[row] = out.add(in.labels[row], in.drop_name[row] != 0);
    out.row(rows[row])[step] = in.row(row)[step];
    out.mask(rows[row])[step] = 1;
  }));
  VAGT_CHECK_OK(table->recount());
  return table;
}

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
  const Selection selection{aggregate.op, std::move(parameter),
                            LabelPick(aggregate.grouping, aggregate.without)};
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred(
      [shared, selection, &context] { return select(*shared, selection, context); });
}

}  // namespace vagt::query
