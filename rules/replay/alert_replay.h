// An alerting rule over a stretch of slots.
#pragma once

#include "rules/alert_tracker.h"
#include "rules/replay/rule_replay.h"

namespace vagt::rules {

class ColumnarGroup::AlertReplay final : public RuleReplay {
 public:
  struct Surroundings {  // of the group
    Labels external_labels;
    std::string external_url;
    size_t max_template_bytes = 0, limit = 0;
  };
  AlertReplay(const Rule& rule, const Surroundings& around, RuleQueries& queries,
              ReplayedRule& result);

  size_t alerts() const override { return collector_.size(); }
  void finish(Timestamp to) override { result_.alerts = collector_.finish(to); }

 private:
  struct Event;
  struct Present;
  class Walk;
  Status take(const query::Matrix& result, const SlotRange& slots,
              const std::stop_token& stop) override;

  const AlertRule& rule_;
  const Surroundings around_;
  const bool labels_vary_;  // with the value or the time: an alert is another one at each slot
  std::stop_token stop_;    // of the stretch under way, for the queries of templates
  AlertTemplates templates_;
  AlertTracker tracker_;
  AlertCollector collector_;
};

}  // namespace vagt::rules
