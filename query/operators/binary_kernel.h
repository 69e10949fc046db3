// Arithmetic and comparison over rows of values; the loops that compilers vectorise.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "query/ast.h"
#include "query/operators/numbers.h"

namespace vagt::query {

// out[i] = lhs[i] op rhs[i] where mask[i] is set. A comparison gives 1 or 0 with `as_bool`;
// without, it clears mask[i] where it does not hold and gives kept[i] where it does. `out` may be
// any of the inputs.
inline void combine(BinaryOp op, bool as_bool, std::span<const double> lhs,
                    std::span<const double> rhs, std::span<const double> kept,
                    std::span<double> out, std::span<uint8_t> mask) {
  const size_t n = out.size();
  const auto arithmetic = [&](auto apply) {
    for (size_t i = 0; i < n; ++i) out[i] = apply(lhs[i], rhs[i]);
  };
  // Costly or trapping only where there is a value.
  const auto masked = [&](auto apply) {
    for (size_t i = 0; i < n; ++i) {
      if (mask[i] != 0) out[i] = apply(lhs[i], rhs[i]);
    }
  };
  const auto comparison = [&](auto holds) {
    if (as_bool) {
      for (size_t i = 0; i < n; ++i) out[i] = holds(lhs[i], rhs[i]) ? 1 : 0;
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      const bool keep = holds(lhs[i], rhs[i]);
      out[i] = kept[i];
      mask[i] = static_cast<uint8_t>(mask[i] & (keep ? 1 : 0));
    }
  };
  switch (op) {
    case BinaryOp::Add:
      return arithmetic([](double a, double b) { return a + b; });
    case BinaryOp::Sub:
      return arithmetic([](double a, double b) { return a - b; });
    case BinaryOp::Mul:
      return arithmetic([](double a, double b) { return a * b; });
    case BinaryOp::Div:
      return arithmetic([](double a, double b) { return a / b; });
    case BinaryOp::Mod:
      return masked([](double a, double b) { return std::fmod(a, b); });
    case BinaryOp::Pow:
      return masked(go_pow);
    case BinaryOp::Atan2:
      return masked([](double a, double b) { return std::atan2(a, b); });
    case BinaryOp::Eq:
      return comparison([](double a, double b) { return a == b; });
    case BinaryOp::Ne:
      return comparison([](double a, double b) { return a != b; });
    case BinaryOp::Gt:
      return comparison([](double a, double b) { return a > b; });
    case BinaryOp::Lt:
      return comparison([](double a, double b) { return a < b; });
    case BinaryOp::Ge:
      return comparison([](double a, double b) { return a >= b; });
    case BinaryOp::Le:
      return comparison([](double a, double b) { return a <= b; });
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Unless:
      return;
  }
}

}  // namespace vagt::query
