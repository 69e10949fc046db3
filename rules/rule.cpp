#include "rules/rule.h"

namespace vagt::rules {

const std::string& rule_name(const Rule& rule) {
  return std::visit([](const auto& r) -> const std::string& { return r.name; }, rule);
}
const query::Expr& rule_expr(const Rule& rule) {
  return std::visit([](const auto& r) -> const query::Expr& { return *r.expr; }, rule);
}
const TextMap& rule_labels(const Rule& rule) {
  return std::visit([](const auto& r) -> const TextMap& { return r.labels; }, rule);
}
RulePosition rule_position(const Rule& rule) {
  return std::visit([](const auto& r) { return r.where; }, rule);
}

}  // namespace vagt::rules
