// /api/v2: Alertmanager's API over the built-in one.
#pragma once

#include "base/time.h"
#include "engine/api/router.h"
#include "notify/manager.h"

namespace vagt::engine::api {

struct AlertmanagerContext {
  notify::NotifyManager& notify;
  const Clock& clock;
};

// `context` must outlive the router.
void add_alertmanager_routes(Router& router, const AlertmanagerContext& context);

}  // namespace vagt::engine::api
