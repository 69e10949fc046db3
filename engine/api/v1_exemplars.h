// /api/v1/query_exemplars.
#pragma once

#include "engine/api/v1_query.h"

namespace vagt::engine::api {

// The exemplars of the series that the selectors of `query` name, in [start, end].
net::ServerResponse query_exemplars(const QueryContext& context, const net::ServerRequest& request);

}  // namespace vagt::engine::api
