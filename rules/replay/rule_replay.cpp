#include "rules/replay/rule_replay.h"

#include "rules/replay/reads.h"

namespace vagt::rules {
namespace {

// Of one slot or of less time at once it may well succeed; the others concern the whole replay.
bool concerns_this_query(Code code) {
  return code == Code::InvalidArgument || code == Code::LimitExceeded || code == Code::Timeout;
}

query::ExprPtr shared_expr(const Rule& rule) {
  return std::visit([](const auto& r) { return r.expr; }, rule);
}

}  // namespace

ColumnarGroup::RuleReplay::RuleReplay(const Rule& rule, RuleQueries& queries, ReplayedRule& result)
    : queries_(queries),
      result_(result),
      plan_(query::make_plan(shared_expr(rule))),
      each_alone_(reads_of(rule_expr(rule)).depends_on_range) {}

Status ColumnarGroup::RuleReplay::run(const SlotRange& slots, std::stop_token stop) {
  if (slots.count == 0) return {};
  if (slots.count == 1 || each_alone_) return run_each(slots, stop);
  const RuleQueries::Options& options = queries_.options();
  const Duration offset = options.query_offset;
  auto result =
      query::eval_range(*plan_, *options.store, slots.first - offset,
                        slots.at(slots.count - 1) - offset, slots.interval, options.eval, stop);
  if (result) {
    result_.evaluations += slots.count;
    return take(std::get<query::Matrix>(result->value), slots, stop);
  }
  if (!concerns_this_query(result.error().code())) return std::move(result).error();
  const size_t half = slots.count / 2;
  VAGT_CHECK_OK(run({slots.first, half, slots.interval}, stop));
  return run({slots.at(half), slots.count - half, slots.interval}, stop);
}

Status ColumnarGroup::RuleReplay::run_each(const SlotRange& slots, const std::stop_token& stop) {
  for (size_t i = 0; i < slots.count; ++i) {
    ++result_.evaluations;
    auto vector = queries_.at(*plan_, slots.at(i), stop);
    if (!vector) {
      if (!concerns_this_query(vector.error().code())) return std::move(vector).error();
      fail(vector.error());
      continue;
    }
    query::Matrix matrix;
    for (query::VectorSample& sample : *vector) {
      query::Series& series = matrix.emplace_back();
      series.labels = std::move(sample.labels);
      series.samples.push(slots.at(i) - queries_.options().query_offset, sample.v);
    }
    VAGT_CHECK_OK(take(matrix, {slots.at(i), 1, slots.interval}, stop));
  }
  return {};
}

void ColumnarGroup::RuleReplay::fail(const Status& status) {
  ++result_.failures;
  result_.last_error = status.message();
}

}  // namespace vagt::rules
