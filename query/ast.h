// The PromQL syntax tree. Immutable after type checking; knows nothing of the grammar that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/matcher.h"
#include "base/time.h"

namespace vagt::query {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;  // shared: plans and caches keep parts of a tree

enum class ValueType : uint8_t { None, Scalar, String, Vector, Matrix };
std::string_view value_type_name(ValueType type);  // "scalar", "string", "vector", "matrix", "none"
// As error messages and documentation name them: "instant vector", "range vector", "scalar",
// "string".
std::string_view documented_type(ValueType type);

// Byte range in the query text.
struct Source {
  uint32_t begin = 0, end = 0;
};

// A duration written as arithmetic (`[5m * 2]`, `offset (1h / step())`); resolved before
// evaluation.
struct DurationExpr;
using DurationExprPtr = std::shared_ptr<const DurationExpr>;
struct DurationExpr {
  enum class Op : uint8_t {
    Literal,
    Step,
    Range,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Negate,
    Plus,
    MinOf,
    MaxOf
  };
  Op op = Op::Literal;
  double seconds = 0;        // Literal
  bool with_unit = false;    // Literal: written as a duration ("5m"); printed as one
  bool wrapped = false;      // was written in parentheses
  DurationExprPtr lhs, rhs;  // rhs only for two-sided operators
  Source source;
};

struct NumberLiteral {
  double value = 0;
  bool duration = false;  // written as a duration ("5m"); printed as one
};
struct StringLiteral {
  std::string value;
};

// `offset` and `@` of a selector or sub-query.
struct TimeShift {
  enum class At : uint8_t { None, Fixed, Start, End };
  Duration offset{0};           // may be negative
  DurationExprPtr offset_expr;  // when written as arithmetic
  At at = At::None;
  Timestamp at_time{};  // Fixed
};

struct VectorSelector {
  std::string name;               // as written before the braces; "" when only in braces
  std::vector<Matcher> matchers;  // with the one for __name__
  TimeShift shift;
  enum class Extended : uint8_t { None, Anchored, Smoothed } extended = Extended::None;
};
struct MatrixSelector {
  ExprPtr vector;  // a VectorSelector; it carries the shift
  Duration range{0};
  DurationExprPtr range_expr;
};
struct Subquery {
  ExprPtr expr;
  Duration range{0};
  Duration step{0};  // 0: the default resolution
  DurationExprPtr range_expr, step_expr;
  TimeShift shift;
};

struct FunctionSignature;  // query/functions.h
struct Call {
  const FunctionSignature* function = nullptr;
  std::vector<ExprPtr> args;
};

enum class AggregateOp : uint8_t {
  Sum,
  Avg,
  Min,
  Max,
  Count,
  Group,
  Stddev,
  Stdvar,
  Topk,
  Bottomk,
  Quantile,
  CountValues,
  Limitk,
  LimitRatio
};
struct Aggregate {
  AggregateOp op = AggregateOp::Sum;
  ExprPtr expr;
  ExprPtr param;  // null when the operator takes none
  std::vector<std::string> grouping;
  bool without = false;
};

std::string_view aggregate_op_text(AggregateOp op);  // "sum"
constexpr bool takes_parameter(AggregateOp op) { return op >= AggregateOp::Topk; }

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Atan2,
  Eq,
  Ne,
  Gt,
  Lt,
  Ge,
  Le,
  And,
  Or,
  Unless
};
constexpr bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Le; }
constexpr bool is_set_operator(BinaryOp op) { return op >= BinaryOp::And; }
std::string_view binary_op_text(BinaryOp op);  // "+", "atan2", "unless"
struct VectorMatching {
  enum class Card : uint8_t { OneToOne, ManyToOne, OneToMany, ManyToMany } card = Card::OneToOne;
  std::vector<std::string> labels;
  bool on = false;                           // labels are on(…), else ignoring(…)
  std::vector<std::string> include;          // group_left(…) / group_right(…)
  std::optional<double> fill_lhs, fill_rhs;  // fill, fill_left, fill_right
};
struct Binary {
  BinaryOp op = BinaryOp::Add;
  ExprPtr lhs, rhs;
  std::optional<VectorMatching> matching;  // set when both sides are vectors
  bool return_bool = false;
};
struct Unary {
  bool negate = false;  // false: unary plus
  ExprPtr expr;
};
struct Paren {
  ExprPtr expr;
};

struct Expr {
  std::variant<NumberLiteral, StringLiteral, VectorSelector, MatrixSelector, Subquery, Call,
               Aggregate, Binary, Unary,
               Paren>
      node;  // a new node breaks every std::visit that forgot it
  ValueType type = ValueType::None;
  Source source;
};

}  // namespace vagt::query
