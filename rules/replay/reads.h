// What expressions read: which rules must run before which, and how far back they look.
#pragma once

#include <vector>

#include "query/ast.h"
#include "rules/rule.h"

namespace vagt::rules {

struct ExprReads {
  std::vector<const query::VectorSelector*>
      selectors;  // of the expression, which must outlive this
  // How long before its evaluation it reads; the lookback not counted.
  Duration reach{};
  // Says `@ start()`, `@ end()` or step(): as one range query it would mean something else.
  bool depends_on_range = false;
};
ExprReads reads_of(const query::Expr& expr);

// Whether the selector may see what the rule writes: a recorded series, or ALERTS and
// ALERTS_FOR_STATE. Label values that the expression decides could be anything.
bool may_see(const query::VectorSelector& selector, const Rule& rule);

// The order in which groups can be run over a stretch of time, each in one go.
struct ReplayStage {
  std::vector<size_t> groups;  // positions in what was asked about
  // They read each other's or their own results: slot by slot, as the daemon does it.
  bool in_lockstep = false;
};
std::vector<ReplayStage> replay_stages(const std::vector<const RuleGroup*>& groups);

}  // namespace vagt::rules
