#include <memory>

#include "cli/command_line.h"
#include "cli/prometheus_query.h"

namespace vagt::cli {
namespace {

template <class Query>
void add_server_and_format(CLI::App& verb, Query& query) {
  verb.add_option("server", query.server, "vagtd or Prometheus, as in http://localhost:9090")
      ->required();
  verb.add_option("-o,--format", query.format, "promql or json; promql when left out");
}

template <class Query>
void add_span(CLI::App& verb, Query& query) {
  verb.add_option("--start", query.start, "RFC 3339 or seconds since 1970");
  verb.add_option("--end", query.end, "RFC 3339 or seconds since 1970");
}

void add_instant_verb(CLI::App& group, Invocation& invocation) {
  auto query = std::make_shared<InstantQuery>();
  CLI::App& verb =
      add_verb(group, invocation, "instant", "The value at one instant", query, &query_instant);
  add_server_and_format(verb, *query);
  verb.add_option("expr", query->expr, "PromQL")->required();
  verb.add_option("--time", query->time, "RFC 3339 or seconds since 1970; now when left out");
  verb.footer(
      "Example:\n  vagtctl query instant http://localhost:9090 'max by (host) "
      "(DCGM_FI_DEV_GPU_TEMP)'");
}

void add_range_verb(CLI::App& group, Invocation& invocation) {
  auto query = std::make_shared<RangeQuery>();
  CLI::App& verb =
      add_verb(group, invocation, "range", "Values over a span of time", query, &query_range);
  add_server_and_format(verb, *query);
  verb.add_option("expr", query->expr, "PromQL")->required();
  add_span(verb, *query);
  verb.add_option("--step", query->step,
                  "Distance of the points, as in 15s; a 250th of the span when left out");
  verb.add_option("--header", query->headers, "NAME=VALUE to send along, once for each")
      ->allow_extra_args(false);
  verb.footer(
      "Example:\n"
      "  vagtctl query range http://localhost:9090 'rate(node_cpu_seconds_total[5m])' "
      "--start=2026-12-01T00:00:00Z --end=2026-12-01T06:00:00Z --step=1m");
}

void add_series_verb(CLI::App& group, Invocation& invocation) {
  auto query = std::make_shared<SeriesQuery>();
  CLI::App& verb =
      add_verb(group, invocation, "series", "Which series there are", query, &query_series);
  add_server_and_format(verb, *query);
  verb.add_option("--match", query->matches, "Selector, once for each")
      ->allow_extra_args(false)
      ->required();
  add_span(verb, *query);
  verb.footer("Example:\n  vagtctl query series http://localhost:9090 --match='up{job=\"vagt\"}'");
}

void add_labels_verb(CLI::App& group, Invocation& invocation) {
  auto query = std::make_shared<LabelsQuery>();
  CLI::App& verb =
      add_verb(group, invocation, "labels", "The values of a label", query, &query_labels);
  add_server_and_format(verb, *query);
  verb.add_option("name", query->name, "Label name")->required();
  verb.add_option("--match", query->matches, "Selector, once for each")->allow_extra_args(false);
  add_span(verb, *query);
  verb.footer("Example:\n  vagtctl query labels http://localhost:9090 job");
}

void add_explain_verb(CLI::App& app, Invocation& invocation) {
  auto query = std::make_shared<ExplainQuery>();
  CLI::App& verb =
      add_verb(app, invocation, "explain",
               "The plan of an expression, and what each node of it costs", query, &query_explain);
  verb.add_option("expr", query->expr, "PromQL")->required();
  verb.add_option("--server", query->server,
                  "vagtd that runs it, as in http://localhost:9090; only the plan when left out");
  verb.add_option("--time", query->time, "RFC 3339 or seconds since 1970; now when left out");
  add_span(verb, *query);
  verb.add_option("--step", query->step,
                  "Distance of the points between --start and --end, as in 15s");
  verb.footer(
      "Example:\n  vagtctl explain 'sum by (job) (rate(http_requests_total[5m]))' "
      "--server=http://localhost:9090");
}

}  // namespace

void add_query_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& group = *app.add_subcommand("query", "Ask vagtd or Prometheus");
  group.require_subcommand(1)->fallthrough();
  add_explain_verb(app, invocation);
  add_instant_verb(group, invocation);
  add_range_verb(group, invocation);
  add_series_verb(group, invocation);
  add_labels_verb(group, invocation);
}

}  // namespace vagt::cli
