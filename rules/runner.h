// One rule at work inside its group.
#pragma once

#include <memory>
#include <string>

#include "query/evaluator.h"
#include "rules/alert_tracker.h"
#include "rules/group.h"
#include "rules/series_book.h"

namespace vagt::rules {

struct Group::Runner {
  const Rule* rule = nullptr;
  std::string key;  // of the rule, in the state store
  std::string query;
  query::PlanPtr plan;
  std::unique_ptr<AlertTracker> tracker;  // alerting only
  SeriesBook book;
  bool restored = true;  // false: ALERTS is not written yet, the old values are still needed

  RuleHealth health = RuleHealth::Unknown;
  std::string last_error;
  double evaluation_seconds = 0;
  std::optional<Timestamp> last_evaluation;

  const AlertRule* alert() const { return std::get_if<AlertRule>(rule); }
  const RecordRule* record() const { return std::get_if<RecordRule>(rule); }
};

}  // namespace vagt::rules
