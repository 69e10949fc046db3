#include "query/ast.h"

namespace vagt::query {

std::string_view value_type_name(ValueType type) {
  switch (type) {
    case ValueType::None:
      return "none";
    case ValueType::Scalar:
      return "scalar";
    case ValueType::String:
      return "string";
    case ValueType::Vector:
      return "vector";
    case ValueType::Matrix:
      return "matrix";
  }
  return "none";
}

std::string_view documented_type(ValueType type) {
  switch (type) {
    case ValueType::Vector:
      return "instant vector";
    case ValueType::Matrix:
      return "range vector";
    default:
      return value_type_name(type);
  }
}

std::string_view aggregate_op_text(AggregateOp op) {
  constexpr std::string_view kTexts[] = {
      "sum",    "avg",  "min",     "max",      "count",        "group",  "stddev",
      "stdvar", "topk", "bottomk", "quantile", "count_values", "limitk", "limit_ratio"};
  return kTexts[static_cast<size_t>(op)];
}

std::string_view binary_op_text(BinaryOp op) {
  constexpr std::string_view kTexts[] = {"+",  "-", "*", "/",  "%",  "^",   "atan2", "==",
                                         "!=", ">", "<", ">=", "<=", "and", "or",    "unless"};
  return kTexts[static_cast<size_t>(op)];
}

}  // namespace vagt::query
