// Label sets of the naive evaluator.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/query/naive_evaluator.h"

namespace vagt::query {

inline const Expr& inside(const Expr& expr) {
  const auto* paren = std::get_if<Paren>(&expr.node);
  return paren == nullptr ? expr : inside(*paren->expr);
}

inline LabelMap nameless(LabelMap labels) {
  labels.erase("__name__");
  return labels;
}

// The labels that a grouping keeps.
inline LabelMap signature(const LabelMap& labels, const std::vector<std::string>& names,
                          bool keep) {
  LabelMap out;
  for (const auto& [name, value] : labels) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (keep ? listed : !listed && name != "__name__") out[name] = value;
  }
  return out;
}

inline void check_unique(const std::vector<NaiveSample>& values) {
  std::set<LabelMap> seen;
  for (const NaiveSample& value : values) {
    if (!seen.insert(value.labels).second) throw NaiveEvaluator::Failed{};
  }
}

}  // namespace vagt::query
