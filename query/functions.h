// The table of PromQL functions: names and signatures for the type check; evaluation lives in
// operators/call.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "query/ast.h"

namespace vagt::query {

struct FunctionSignature {
  std::string_view name;
  std::vector<ValueType> args;
  int variadic = 0;  // 0: exactly args; n > 0: the last n args are optional; -1: the last repeats
  ValueType returns = ValueType::Vector;
  bool experimental = false;  // needs promql-experimental-functions
};

// Null when there is no such function. The table is constant; pointers stay valid.
const FunctionSignature* find_function(std::string_view name);
std::span<const FunctionSignature> all_functions();

}  // namespace vagt::query
