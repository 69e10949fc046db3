// An alert as rules publish it and notify receives it, and the seam between the two.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/labels.h"
#include "base/time.h"

namespace vagt {

enum class AlertState : uint8_t { Inactive, Pending, Firing };
std::string_view alert_state_name(AlertState state);  // "inactive", "pending", "firing"

using Annotations = std::map<std::string, std::string>;

struct Alert {
  Labels labels;  // with alertname
  Annotations annotations;
  AlertState state = AlertState::Inactive;
  double value = 0;
  Timestamp active_at{};
  std::optional<Timestamp> fired_at, resolved_at;
  std::optional<Timestamp> keep_firing_since;
  Timestamp valid_until{};  // a receiver that hears nothing more takes it as resolved then
  std::string generator_url;
};

class AlertSink {
 public:
  virtual ~AlertSink() = default;
  // Firing and freshly resolved alerts of one group evaluation. Returns at once; any thread.
  virtual void publish(std::span<const Alert> alerts) = 0;
};

}  // namespace vagt
