// Whether a sample may join its series: the one place that words the rules every store follows.
#pragma once

#include <algorithm>
#include <optional>

#include "base/sample.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::tsdb {

// What is known about time when a sample arrives.
struct TimeBounds {
  std::optional<Timestamp> newest;  // of the whole store; nullopt: empty
  Timestamp now{};
  Duration retention{};            // 0: for ever
  Duration out_of_order_window{};  // 0: none
  bool any_age = false;            // back-fill: only retention limits
};

// The oldest timestamp kept; nullopt: everything is. Counted from the newest stored sample or the
// clock, whichever is earlier: neither a jump of the clock nor a sample from the future drops data.
inline std::optional<Timestamp> retention_horizon(const TimeBounds& bounds) {
  if (bounds.retention.count() <= 0 || !bounds.newest) return std::nullopt;
  return std::min(*bounds.newest, bounds.now) - bounds.retention;
}

// Ok: in order. OutOfOrder and OutOfBounds as Appender::append has them. Duplicate here means
// "exactly at `series_newest`": the caller compares values. Unavailable never; Ok with
// `late` set means: accept out of order.
struct Admission {
  Code code = Code::Ok;
  bool late = false;
  bool same_time = false;
};

inline Admission admit(const TimeBounds& bounds, std::optional<Timestamp> series_newest,
                       Timestamp t) {
  if (const auto horizon = retention_horizon(bounds); horizon && t < *horizon)
    return {Code::OutOfBounds, false, false};
  if (!series_newest || t > *series_newest) return {};
  if (t == *series_newest) return {Code::Ok, false, true};
  const bool inside = bounds.any_age || (bounds.out_of_order_window.count() > 0 && bounds.newest &&
                                         t >= *bounds.newest - bounds.out_of_order_window);
  return inside ? Admission{Code::Ok, true, false} : Admission{Code::OutOfOrder, false, false};
}

}  // namespace vagt::tsdb
