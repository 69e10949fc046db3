#include "rules/replay/reads.h"

#include <algorithm>

#include "query/functions.h"
#include "rules/lint/walk.h"

namespace vagt::rules {
namespace {

using query::Expr;
using query::TimeShift;

void note_shift(const TimeShift& shift, Duration& before, ExprReads& reads) {
  before += std::max(shift.offset, Duration{});
  reads.depends_on_range = reads.depends_on_range || shift.offset_expr ||
                           shift.at == TimeShift::At::Start || shift.at == TimeShift::At::End;
}

// `before`: how much earlier than the rule's evaluation `expr` is evaluated at most.
void collect(const Expr& expr, Duration before, ExprReads& reads) {
  if (const auto* selector = std::get_if<query::VectorSelector>(&expr.node)) {
    note_shift(selector->shift, before, reads);
    reads.selectors.push_back(selector);
    reads.reach = std::max(reads.reach, before);
    return;
  }
  if (const auto* matrix = std::get_if<query::MatrixSelector>(&expr.node)) {
    before += matrix->range;
    reads.depends_on_range = reads.depends_on_range || matrix->range_expr;
  }
  if (const auto* subquery = std::get_if<query::Subquery>(&expr.node)) {
    note_shift(subquery->shift, before, reads);
    before += subquery->range;
    reads.depends_on_range = reads.depends_on_range || subquery->range_expr || subquery->step_expr;
  }
  if (const auto* call = std::get_if<query::Call>(&expr.node)) {
    constexpr std::string_view kOfTheRange[] = {"start", "end", "range", "step"};
    reads.depends_on_range =
        reads.depends_on_range || std::find(std::begin(kOfTheRange), std::end(kOfTheRange),
                                            call->function->name) != std::end(kOfTheRange);
  }
  each_child(expr, [&](const Expr& child) { collect(child, before, reads); });
}

bool accepts(const query::VectorSelector& selector, std::string_view label,
             std::string_view value) {
  return std::all_of(selector.matchers.begin(), selector.matchers.end(),
                     [&](const Matcher& m) { return m.name() != label || m.matches(value); });
}

bool accepts_labels(const query::VectorSelector& selector, const TextMap& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    return label.second.find("{{") != std::string::npos ||
           accepts(selector, label.first, label.second);
  });
}

// What one group does to another, or to itself.
class Readers {
 public:
  explicit Readers(const std::vector<const RuleGroup*>& groups) : groups_(groups) {
    for (const RuleGroup* group : groups) {
      std::vector<ExprReads>& rules = reads_.emplace_back();
      for (const Rule& rule : group->rules) rules.push_back(reads_of(rule_expr(rule)));
    }
  }
  bool reads(size_t reader, size_t writer) const {
    return any(reader, writer, [](size_t, size_t, const Rule&) { return true; });
  }
  // A rule that sees what it or a later one of its group wrote at the slot before.
  bool reads_back(size_t group) const {
    return any(group, group,
               [](size_t reading, size_t writing, const Rule&) { return writing >= reading; });
  }
  // Series of alerts are written by the daemon's own code only.
  bool alerts_are_read(size_t writer) const {
    for (size_t reader = 0; reader < groups_.size(); ++reader) {
      const bool read = any(reader, writer, [](size_t, size_t, const Rule& rule) {
        return std::holds_alternative<AlertRule>(rule);
      });
      if (read) return true;
    }
    return false;
  }

 private:
  template <class Counts>
  bool any(size_t reader, size_t writer, const Counts& counts) const {
    const std::vector<Rule>& written = groups_[writer]->rules;
    for (size_t i = 0; i < reads_[reader].size(); ++i) {
      for (const query::VectorSelector* selector : reads_[reader][i].selectors) {
        for (size_t j = 0; j < written.size(); ++j) {
          if (counts(i, j, written[j]) && may_see(*selector, written[j])) return true;
        }
      }
    }
    return false;
  }

  const std::vector<const RuleGroup*>& groups_;
  std::vector<std::vector<ExprReads>> reads_;
};

}  // namespace

ExprReads reads_of(const query::Expr& expr) {
  ExprReads reads;
  collect(expr, Duration{}, reads);
  return reads;
}

bool may_see(const query::VectorSelector& selector, const Rule& rule) {
  if (!accepts_labels(selector, rule_labels(rule))) return false;
  if (std::holds_alternative<RecordRule>(rule))
    return accepts(selector, kMetricName, rule_name(rule));
  return (accepts(selector, kMetricName, "ALERTS") ||
          accepts(selector, kMetricName, "ALERTS_FOR_STATE")) &&
         accepts(selector, kAlertName, rule_name(rule));
}

std::vector<ReplayStage> replay_stages(const std::vector<const RuleGroup*>& groups) {
  const Readers readers(groups);
  std::vector<ReplayStage> stages;
  std::vector<size_t> waiting(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) waiting[i] = i;
  while (!waiting.empty()) {
    std::vector<size_t> blocked;
    for (const size_t group : waiting) {
      const bool must_wait = std::any_of(waiting.begin(), waiting.end(), [&](size_t other) {
        return other != group && readers.reads(group, other);
      });
      if (must_wait) {
        blocked.push_back(group);
      } else {
        stages.push_back({{group}, readers.reads_back(group) || readers.alerts_are_read(group)});
      }
    }
    if (blocked.size() == waiting.size()) {  // a circle, and what hangs on it
      stages.push_back({std::move(blocked), true});
      break;
    }
    waiting = std::move(blocked);
  }
  return stages;
}

}  // namespace vagt::rules
