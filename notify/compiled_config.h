// A configuration ready to run, and the two questions about it that both the dispatcher and the API
// ask.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "notify/notification.h"
#include "notify/notifier.h"
#include "notify/notify_config.h"
#include "notify/route.h"

namespace vagt::notify {

// Tree, notifiers and templates are built. Immutable and shared.
struct CompiledConfig {
  struct Receiver {
    struct Integration {
      std::string name;
      size_t position = 0;  // among those of the same type in this receiver
      bool send_resolved = false;
      std::shared_ptr<const Notifier> notifier;
    };
    std::string name;
    std::map<std::string, std::string> labels;
    std::vector<Integration> integrations;
  };
  Config config;
  std::unique_ptr<const Route> root;
  std::map<std::string, Receiver> receivers;
  std::map<std::string, NamedTimeInterval> intervals;
  std::shared_ptr<const TemplateLibrary> templates;

  static Result<std::shared_ptr<const CompiledConfig>> compile(Config config);
};

// Whether a route's time intervals keep it silent at `now`; `names` (may be null) gets those that
// do.
bool muted_by_time(const CompiledConfig& config, const RouteOptions& options, Timestamp now,
                   std::vector<std::string>* names);

// The message of one group, before any integration shapes it. Route labels are rendered.
Notification group_notification(const CompiledConfig& config, const Route& route,
                                const Labels& labels, const std::string& key,
                                const std::vector<AlertPtr>& alerts,
                                const std::string& external_url, Timestamp now);

}  // namespace vagt::notify
