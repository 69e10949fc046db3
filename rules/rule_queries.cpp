#include "rules/rule_queries.h"

namespace vagt::rules {

Result<query::Vector> RuleQueries::at(const query::Plan& plan, Timestamp slot,
                                      std::stop_token stop) const {
  VAGT_TRY(query::QueryResult result,
           query::eval_instant(plan, *options_.store, slot - options_.query_offset, options_.eval,
                               std::move(stop)));
  if (auto* vector = std::get_if<query::Vector>(&result.value)) return std::move(*vector);
  if (const auto* scalar = std::get_if<query::ScalarValue>(&result.value)) {
    return query::Vector{{Labels(), scalar->t, scalar->v}};
  }
  return Status::invalid("rule result is not a vector or scalar");
}

Result<query::Vector> RuleQueries::at(const std::string& text, Timestamp slot,
                                      std::stop_token stop) {
  constexpr size_t kMaxPlans = 1000;  // texts built by printf could be many
  auto found = plans_.find(text);
  if (found == plans_.end()) {
    if (plans_.size() > kMaxPlans) plans_.clear();
    VAGT_TRY(query::ExprPtr expr, query::parse_expr(text, options_.parse));
    found = plans_.emplace(text, query::make_plan(std::move(expr))).first;
  }
  return at(*found->second, slot, std::move(stop));
}

}  // namespace vagt::rules
