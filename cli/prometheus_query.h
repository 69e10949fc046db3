// vagtctl query instant | range | series | labels: promtool's, over HTTP.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct InstantQuery {
  std::string server, expr, format, time;
};
int query_instant(Context& context, const InstantQuery& query);

struct RangeQuery {
  std::string server, expr, format, start, end, step;
  std::vector<std::string> headers;  // name=value
};
int query_range(Context& context, const RangeQuery& query);

struct SeriesQuery {
  std::string server, format, start, end;
  std::vector<std::string> matches;
};
int query_series(Context& context, const SeriesQuery& query);

struct LabelsQuery {
  std::string server, name, format, start, end;
  std::vector<std::string> matches;
};
int query_labels(Context& context, const LabelsQuery& query);

// vagtctl explain: the plan of an expression; with a server also what each node of it cost there.
struct ExplainQuery {
  std::string expr, server, time, start, end, step;
};
int query_explain(Context& context, const ExplainQuery& query);

}  // namespace vagt::cli
