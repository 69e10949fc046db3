// /api/v1/admin/tsdb: flush, snapshot, delete_series, clean_tombstones; behind
// --web.enable-admin-api.
#pragma once

#include <string>

#include "base/time.h"
#include "engine/api/router.h"
#include "tsdb/rocks_store.h"

namespace vagt::engine::api {

struct AdminContext {
  tsdb::RocksStore& store;
  const Clock& clock;
  bool enabled = false;
  std::string data_path;  // snapshots go to its folder snapshots/
};

// `context` must outlive the router.
void add_admin_routes(Router& router, const AdminContext& context);

}  // namespace vagt::engine::api
