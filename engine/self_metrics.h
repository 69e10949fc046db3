// The daemon's own metrics: build, configuration, imports. The parts register theirs themselves.
#pragma once

#include "base/metrics.h"
#include "base/time.h"

namespace vagt::engine {

class SelfMetrics {
 public:
  SelfMetrics(base::Registry& registry, Timestamp started);

  void reloaded(bool success, Timestamp last_success);
  void nobody_paged(bool nobody) { nobody_paged_.set(nobody ? 1 : 0); }
  base::Counter& samples_imported() { return imported_; }
  base::Counter& samples_refused() { return refused_; }

 private:
  base::Gauge& reload_success_;
  base::Gauge& reload_time_;
  base::Gauge& am_reload_success_;
  base::Gauge& am_reload_time_;
  base::Gauge& nobody_paged_;
  base::Counter& imported_;
  base::Counter& refused_;
};

}  // namespace vagt::engine
