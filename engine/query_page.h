// The page behind the source links of alerts, /graph?g0.expr=…: the expression, its value now and
// its last hours, rendered here.
#pragma once

#include "engine/api/router.h"
#include "engine/api/v1_query.h"

namespace vagt::engine {

// Answers /graph and /query, which Prometheus 2 and 3 use. `context` must outlive the router.
void add_query_page(api::Router& router, const api::QueryContext& context);

}  // namespace vagt::engine
