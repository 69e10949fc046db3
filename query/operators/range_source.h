// Range vectors: samples of one series after another, from the store or from a sub-query.
#pragma once

#include <memory>

#include "query/operators/context.h"
#include "query/operators/operator.h"

namespace vagt::query {

class RangeSource {
 public:
  virtual ~RangeSource() = default;
  // False at the end; what the others return is valid until the next call.
  virtual Result<bool> next() = 0;
  virtual const Labels& labels() const = 0;
  virtual bool drop_name() const = 0;
  virtual const SampleColumns& samples() const = 0;  // without stale markers
};

// `node` is a MatrixSelector or a Subquery. `function` is the one around it.
Result<std::unique_ptr<RangeSource>> make_range_source(const PlanNode& node, const StepGrid& grid,
                                                       std::string_view function,
                                                       EvalContext& context);

}  // namespace vagt::query
