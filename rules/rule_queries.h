// How rules ask the store: their own expressions and those that their templates name.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "base/status.h"
#include "base/time.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "query/value.h"
#include "tsdb/store.h"

namespace vagt::rules {

// One group's. One thread at a time.
class RuleQueries {
 public:
  struct Options {
    tsdb::Store* store = nullptr;  // borrowed
    query::EvalOptions eval;       // with the group's default step of subqueries
    query::ParseOptions parse;     // of texts
    Duration query_offset{};       // a slot's queries are asked for this long before it
  };
  explicit RuleQueries(const Options& options) : options_(options) {}
  const Options& options() const { return options_; }

  // The result of a rule's expression for the evaluation at `slot`; a scalar is a sample without
  // labels. InvalidArgument: it is neither that nor a vector; and the evaluator's errors.
  Result<query::Vector> at(const query::Plan& plan, Timestamp slot, std::stop_token stop) const;
  // The same for an expression in a template; plans are kept.
  Result<query::Vector> at(const std::string& text, Timestamp slot, std::stop_token stop);

 private:
  const Options options_;
  std::map<std::string, query::PlanPtr> plans_;
};

}  // namespace vagt::rules
