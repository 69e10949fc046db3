// Interval arithmetic over PromQL: what values an expression can take, where its metrics' nature is
// known.
#pragma once

#include <limits>
#include <optional>

#include "query/ast.h"
#include "rules/lint/metric_nature.h"

namespace vagt::rules {

// The values of `expr`, NaN aside. Without knowledge all of the real line.
Bounds bounds_of(const query::Expr& expr, const MetricCatalog& catalog);

// What a comparison that filters can do, judged by the two sides' bounds.
enum class Verdict : uint8_t { Open, Never, Always };
Verdict judge(query::BinaryOp op, const Bounds& lhs, const Bounds& rhs);

}  // namespace vagt::rules
