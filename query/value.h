// What a query evaluates to.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/labels.h"
#include "base/sample.h"
#include "query/ast.h"

namespace vagt::query {

struct ScalarValue {
  Timestamp t{};
  double v = 0;
};
struct VectorSample {
  Labels labels;
  Timestamp t{};
  double v = 0;
};
using Vector = std::vector<VectorSample>;
struct Series {
  Labels labels;
  SampleColumns samples;
};
using Matrix = std::vector<Series>;  // in Labels order
struct StringValue {
  Timestamp t{};
  std::string text;
};
using Value = std::variant<ScalarValue, StringValue, Vector, Matrix>;

struct QueryResult {
  Value value;
  std::vector<std::string> warnings, infos;  // annotations, as Prometheus words them
};

}  // namespace vagt::query
