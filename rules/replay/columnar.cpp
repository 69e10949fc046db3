#include "rules/replay/columnar.h"

#include "rules/replay/alert_replay.h"
#include "rules/replay/record_replay.h"

namespace vagt::rules {

ColumnarGroup::ColumnarGroup(const GroupEnvironment& environment, const RuleGroup& rules,
                             const GroupSettings& settings, std::vector<ReplayedRule*> results)
    : clock_(environment.clock),
      queries_({environment.store, environment.eval, environment.parse, settings.query_offset}),
      results_(std::move(results)) {
  const AlertReplay::Surroundings around{settings.external_labels, environment.external_url,
                                         environment.max_template_bytes, rules.limit};
  for (size_t i = 0; i < rules.rules.size(); ++i) {
    const Rule& rule = rules.rules[i];
    if (std::holds_alternative<AlertRule>(rule)) {
      rules_.push_back(std::make_unique<AlertReplay>(rule, around, queries_, *results_[i]));
    } else {
      rules_.push_back(std::make_unique<RecordReplay>(rule, rules.limit, queries_, *results_[i]));
    }
  }
}

ColumnarGroup::~ColumnarGroup() = default;

Status ColumnarGroup::run(const SlotRange& slots, std::stop_token stop) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const auto begin =
        clock_ != nullptr ? clock_->steady_now() : std::chrono::steady_clock::time_point();
    VAGT_CHECK_OK(rules_[i]->run(slots, stop));
    if (clock_ != nullptr) {
      results_[i]->seconds += std::chrono::duration<double>(clock_->steady_now() - begin).count();
    }
  }
  return {};
}

size_t ColumnarGroup::alerts() const {
  size_t sum = 0;
  for (const auto& rule : rules_) sum += rule->alerts();
  return sum;
}

void ColumnarGroup::finish(Timestamp to) {
  for (const auto& rule : rules_) rule->finish(to);
}

}  // namespace vagt::rules
