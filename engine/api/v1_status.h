// /api/v1: what the daemon is doing: targets, rules, alerts, status.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/api/router.h"
#include "engine/flags.h"
#include "rules/manager.h"
#include "scrape/scrape_manager.h"
#include "tsdb/store.h"

namespace vagt::engine::api {

// How the running configuration came about; one immutable copy per reload.
struct ReloadView {
  std::string config_text;  // secrets masked
  bool success = true;      // of the last attempt
  std::string error;        // why it failed
  Timestamp last_success{};
  Duration retention_time{0};
  uint64_t retention_size = 0;
};

struct ExternalAlertmanagers {
  std::vector<std::string> active, dropped;  // URLs
};

struct StatusContext {
  const Flags& flags;
  const Clock& clock;
  Timestamp started;
  tsdb::Store& store;
  const scrape::ScrapeManager& scrape;
  const rules::RuleManager& rules;
  std::function<ReloadView()> reload;
  std::function<ExternalAlertmanagers()> alertmanagers;
};

// `context` must outlive the router.
void add_status_routes(Router& router, const StatusContext& context);
void add_rule_routes(Router& router, const StatusContext& context);
void add_target_routes(Router& router, const StatusContext& context);

}  // namespace vagt::engine::api
