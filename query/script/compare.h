// Results against what a script expects.
#pragma once

#include "base/status.h"
#include "query/script/commands.h"
#include "query/value.h"

namespace vagt::query::script {

// Equal to one part in a million; all NaN are equal.
bool almost_equal(double a, double b);

// Each says what differs (InvalidArgument), or Ok.
Status compare_value(const EvalCommand& eval, const Value& value);
// The step `at` of a range query against an instant query's expectation; order does not count.
Status compare_step(const EvalCommand& eval, const Matrix& matrix, Timestamp at);
Status compare_annotations(const EvalCommand& eval, const QueryResult& result);
// The error of a query that must fail.
Status compare_failure(const EvalCommand& eval, std::string_view message);

}  // namespace vagt::query::script
