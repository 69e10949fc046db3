// /-/healthy, /-/ready, /-/reload, /-/quit and /metrics.
#pragma once

#include <functional>

#include "base/metrics.h"
#include "base/status.h"
#include "engine/api/router.h"

namespace vagt::engine::api {

struct LifecycleContext {
  const base::Registry& registry;
  bool allow_reload = false, allow_quit = false;
  std::function<bool()> ready;             // queries, rules and alerts are served
  std::function<std::string()> unhealthy;  // what is degraded, in words; "" when nothing is
  std::function<Status()> reload;          // waits for the reload
  std::function<void()> quit;              // begins a graceful stop
  bool plain_alertmanager = false;         // healthy and ready are said in its words
};

// `context` must outlive the router.
void add_lifecycle_routes(Router& router, const LifecycleContext& context);

}  // namespace vagt::engine::api
