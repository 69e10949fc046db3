// The cardinality guard: over budget only new series are refused, and what explodes is named.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/time.h"
#include "tsdb/head.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

struct CardinalityBudget {
  size_t series = 0;
  uint64_t bytes = 0;  // of the head; 0: no limit
};

// Among the newest eighth of the series the metric that has most, and of its labels the one with
// most values: an explosion is what came last, not what was always large. nullopt: no series.
std::optional<Explosion> find_explosion(const Head& head);

// Any thread; measure() is upkeep's.
class CardinalityGuard {
 public:
  CardinalityGuard(const CardinalityBudget& budget, base::Logger log)
      : budget_(budget), log_(std::move(log)) {}

  // LimitExceeded, with the culprit once it is known: `series` in memory are the budget, or their
  // bytes are. Cheap.
  Status admit(size_t series);
  // Weighs the head now and then, and looks for the culprit when series were refused since the last
  // time. A minute without refusals ends the state.
  void measure(const Head& head, Timestamp now);

  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  std::optional<Explosion> explosion() const;
  std::string state() const;  // "" or what is refused and why

 private:
  std::string over(size_t series) const;

  const CardinalityBudget budget_;
  const base::Logger log_;
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> bytes_{0}, weighed_series_{0};
  mutable base::Mutex mutex_;
  std::optional<Explosion> explosion_ VAGT_GUARDED_BY(mutex_);
  std::string why_ VAGT_GUARDED_BY(mutex_);
  uint64_t refused_before_ VAGT_GUARDED_BY(mutex_) = 0;
  Timestamp named_at_ VAGT_GUARDED_BY(mutex_){};
  Timestamp weighed_at_ VAGT_GUARDED_BY(mutex_){};
};

}  // namespace vagt::tsdb
