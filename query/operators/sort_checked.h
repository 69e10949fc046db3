// A stable sort that lets go when the query is to stop.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "query/operators/context.h"

namespace vagt::query {

// Small pieces are sorted at once, then merged in ever longer runs. Left as it is half way where
// context.may_go_on() says no; whoever sorts asks context.check() before the values are used.
template <class T, class Less>
void sort_checked(std::vector<T>& values, const Less& less, EvalContext& context) {
  constexpr size_t kPiece = size_t{1} << 14U, kPieceCost = 14;
  const size_t n = values.size();
  const auto at = [](std::vector<T>& v, size_t i) {
    return v.begin() + static_cast<std::ptrdiff_t>(i);
  };
  for (size_t from = 0; from < n; from += kPiece) {
    const size_t to = std::min(n, from + kPiece);
    if (!context.may_go_on((to - from) * kPieceCost)) return;
    std::stable_sort(at(values, from), at(values, to), less);
  }
  if (n <= kPiece) return;
  std::vector<T> merged(n);
  for (size_t run = kPiece; run < n; run *= 2) {
    for (size_t from = 0; from < n; from += 2 * run) {
      const size_t middle = std::min(n, from + run), to = std::min(n, from + 2 * run);
      size_t left = from, right = middle;
      for (size_t i = from; i < to; ++i) {
        const bool take_right = left == middle || (right < to && less(values[right], values[left]));
        merged[i] = std::move(values[take_right ? right++ : left++]);
        if (!context.may_go_on(1)) return;
      }
    }
    std::swap(values, merged);
  }
}

}  // namespace vagt::query
