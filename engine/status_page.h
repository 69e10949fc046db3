// The plain page at /: alerts, targets, rules, silences, deliveries, rendered here in one piece, no
// script.
#pragma once

#include <functional>

#include "base/time.h"
#include "engine/api/router.h"
#include "engine/api/v1_status.h"
#include "engine/flags.h"
#include "notify/manager.h"
#include "rules/manager.h"
#include "scrape/scrape_manager.h"
#include "tsdb/store.h"

namespace vagt::engine {

struct StatusPageContext {
  const Flags& flags;
  const Clock& clock;
  Timestamp started;
  const tsdb::Store& store;
  const scrape::ScrapeManager& scrape;
  const rules::RuleManager& rules;
  notify::NotifyManager& notify;
  std::function<std::string()> nobody_paged;
  std::function<api::ReloadView()> reload;
};

// `context` must outlive the router.
void add_status_page(api::Router& router, const StatusPageContext& context);

}  // namespace vagt::engine
