// One sample, columns of samples, and the marker that ends a series.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace vagt {

struct Sample {
  Timestamp t;
  double v;
};

// Equal lengths, time-ascending.
struct SampleColumns {
  std::vector<Timestamp> t;
  std::vector<double> v;

  size_t size() const { return t.size(); }
  void clear() { t.clear(), v.clear(); }
  void push(Timestamp at, double value) { t.push_back(at), v.push_back(value); }
};

// A NaN with this payload says "the series ended here" (Prometheus model/value). It is told apart
// by its bits, copied, and never computed with.
inline constexpr uint64_t kStaleNanBits = 0x7ff0000000000002ULL;
// What every other NaN is stored as.
inline constexpr uint64_t kNormalNanBits = 0x7ff8000000000001ULL;

inline double stale_marker() { return std::bit_cast<double>(kStaleNanBits); }
inline double normal_nan() { return std::bit_cast<double>(kNormalNanBits); }
inline bool is_stale(double v) { return std::bit_cast<uint64_t>(v) == kStaleNanBits; }

}  // namespace vagt
