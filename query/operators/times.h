// Which instants and which stretch of the store each selector and sub-query looks at.
#pragma once

#include "query/operators/context.h"

namespace vagt::query {

// The grid a sub-query evaluates its inside on: multiples of its step within (first effective -
// range, last effective]. count is 0 when there is none.
StepGrid subquery_grid(const ResolvedTime& time, const StepGrid& outer);

// Seconds of duration arithmetic. `step` and `range` are the query's, in seconds.
Result<double> duration_seconds(const DurationExpr& expr, double step, double range);

}  // namespace vagt::query
