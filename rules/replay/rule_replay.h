// What replays of alerting and of recording rules share: asking for stretches of slots.
#pragma once

#include "rules/replay/columnar.h"
#include "rules/rule_queries.h"

namespace vagt::rules {

class ColumnarGroup::RuleReplay {
 public:
  RuleReplay(const Rule& rule, RuleQueries& queries, ReplayedRule& result);
  virtual ~RuleReplay() = default;
  RuleReplay(const RuleReplay&) = delete;
  RuleReplay& operator=(const RuleReplay&) = delete;

  Status run(const SlotRange& slots, std::stop_token stop);
  virtual size_t alerts() const { return 0; }
  virtual void finish(Timestamp /*to*/) {}

 protected:
  // The expression's result over all of `slots`; samples carry the queries' times.
  virtual Status take(const query::Matrix& result, const SlotRange& slots,
                      const std::stop_token& stop) = 0;
  void fail(const Status& status);
  size_t slot_of(const SlotRange& slots, Timestamp t) const {
    return static_cast<size_t>((t + queries_.options().query_offset - slots.first) /
                               slots.interval);
  }

  RuleQueries& queries_;
  ReplayedRule& result_;

 private:
  Status run_each(const SlotRange& slots, const std::stop_token& stop);
  const query::PlanPtr plan_;
  const bool each_alone_;
};

}  // namespace vagt::rules
