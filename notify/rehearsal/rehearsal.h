// Who would have been told what and when, had these alerts come: routes, groups, inhibition,
// silences and mute times at work in simulated time, without sending anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/time.h"
#include "notify/notification_log.h"
#include "notify/notify_config.h"
#include "notify/silence.h"

namespace vagt::notify {

struct RehearsedAlert {
  Labels labels;  // with external labels
  Timestamp from{};
  std::optional<Timestamp> to;  // none: it still fires at the end
};

struct RehearsedMessage {
  Timestamp at{};
  std::string receiver;
  Labels group;
  NotifyReason reason = NotifyReason::None;  // First: the group opens
  std::vector<size_t> firing;                // positions of the alerts that it names as firing
};

// The messages of [the first alert, end], in order of time; receivers without an integration get
// none. Resolved messages go where an integration of the receiver wants them.
std::vector<RehearsedMessage> rehearse(const Config& config,
                                       const std::vector<RehearsedAlert>& alerts, Timestamp end,
                                       const std::vector<Silence>& silences = {});

}  // namespace vagt::notify
