// Notify's own metrics, under Alertmanager's names where the meaning is the same.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/metrics.h"

namespace vagt::notify {

class NotifyMetrics {
 private:
  // First: the handles below are made with them.
  base::Registry own_;
  base::Registry& registry_;

 public:
  explicit NotifyMetrics(base::Registry* registry);  // null: keeps the figures to itself
  void request(const std::string& integration);
  void request_failed(const std::string& integration);
  void failed(const std::string& integration, const std::string& reason);
  void delivered(const std::string& integration, double seconds);  // with or without success
  void suppressed(const std::string& reason, size_t alerts);

  base::Counter &received_firing, &received_resolved, &invalid;
  base::Gauge &alerts_active, &alerts_suppressed, &alerts_unprocessed, &groups, &receivers,
      &integrations, &inhibition_rules, &silences_active, &silences_pending, &silences_expired,
      &nobody_paged, &log_entries;
  base::Counter &recorded, &store_failures, &wall_clock_jumps;
};

}  // namespace vagt::notify
