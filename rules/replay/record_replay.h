// A recording rule over a stretch of slots.
#pragma once

#include <unordered_map>

#include "rules/replay/rule_replay.h"

namespace vagt::rules {

class ColumnarGroup::RecordReplay final : public RuleReplay {
 public:
  // `limit`: series that one evaluation may give; 0: any number.
  RecordReplay(const Rule& rule, size_t limit, RuleQueries& queries, ReplayedRule& result)
      : RuleReplay(rule, queries, result), rule_(std::get<RecordRule>(rule)), limit_(limit) {}

 private:
  class Batch;
  Status take(const query::Matrix& result, const SlotRange& slots,
              const std::stop_token& stop) override;

  const RecordRule& rule_;
  const size_t limit_;
  // What the last evaluation wrote: a series that the next one does not write ends.
  std::unordered_map<Labels, tsdb::SeriesRef, LabelsHash> written_;
};

}  // namespace vagt::rules
