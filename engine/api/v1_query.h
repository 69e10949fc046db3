// /api/v1: queries and what they can ask about: query, query_range, series, labels, label values,
// metadata, format_query, parse_query.
#pragma once

#include <functional>

#include "base/time.h"
#include "engine/api/router.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "tsdb/store.h"

namespace vagt::engine::api {

struct QueryContext {
  tsdb::Store& store;
  const Clock& clock;
  query::ParseOptions parse;
  std::function<query::EvalOptions()>
      eval_options;  // the interval for sub-queries follows a reload
};

// `context` must outlive the router.
void add_query_routes(Router& router, const QueryContext& context);
void add_series_routes(Router& router, const QueryContext& context);

}  // namespace vagt::engine::api
