// Samples that come in by HTTP: remote write and the import of exposition text with time stamps.
#pragma once

#include "base/metrics.h"
#include "engine/api/router.h"
#include "net/body_budget.h"
#include "tsdb/store.h"

namespace vagt::engine::api {

struct WriteContext {
  tsdb::Store& store;
  bool remote_write = false;                  // --web.enable-remote-write-receiver
  size_t max_inflated_bytes = 1u << 30;       // of one body
  std::shared_ptr<net::BodyBudget> inflated;  // of all bodies under way
  base::Counter& samples_stored;
  base::Counter& samples_refused;
};

// `context` must outlive the router.
void add_write_routes(Router& router, const WriteContext& context);

}  // namespace vagt::engine::api
