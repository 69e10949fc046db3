// The state of one instant for whoever asks: shared, never changed, read on any thread, so that
// long answers keep the notify thread from nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "notify/compiled_config.h"
#include "notify/inhibit.h"
#include "notify/silence.h"
#include "notify/views.h"

namespace vagt::notify {

using RouteList = std::shared_ptr<const std::vector<const Route*>>;  // alerts share them

struct Snapshot {
  struct RoutedAlert {
    AlertPtr alert;
    RouteList routes;
  };
  struct HeldGroup {
    const Route* route;
    Labels labels;
    std::string key;
    std::vector<AlertPtr> alerts;  // by fingerprint
  };

  std::shared_ptr<const CompiledConfig> config;  // null: none is loaded; owns the routes
  std::vector<RoutedAlert> alerts;
  std::vector<HeldGroup> groups;
  std::shared_ptr<const SilenceStore> silences;
  Inhibitor inhibitor{{}};
  std::string external_url;

  // By fingerprint.
  std::vector<AlertView> alert_views(const AlertQuery& query, Timestamp now) const;
  // By label set, then receiver.
  std::vector<GroupView> group_views(const AlertQuery& query, Timestamp now) const;
};

// What silences and inhibition say of an alert at `now`.
AlertStatusView alert_status(const SilenceStore& silences, const Inhibitor& inhibitor,
                             const Labels& labels, Timestamp now);

}  // namespace vagt::notify
