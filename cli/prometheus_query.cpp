#include "cli/prometheus_query.h"

#include <boost/json.hpp>
#include <ostream>

#include "base/number_text.h"
#include "cli/json_text.h"
#include "cli/prometheus_api.h"
#include "cli/query_answer.h"
#include "query/parse.h"
#include "query/plan.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

constexpr Duration kDefaultRange = std::chrono::minutes(5);
constexpr int64_t kDefaultSteps = 250;

std::string seconds(Timestamp t) { return format_float(to_seconds(t)); }

int fail(Context& context, const Status& status) {
  context.err << "query error: " << status.message() << "\n";
  return kFailure;
}

// Sets name to the instant, or to nothing when none is given.
Status add_instant(Params& params, const char* name, const std::string& text) {
  if (text.empty()) return {};
  VAGT_TRY(const Timestamp t, parse_instant(text).at(std::string("--") + name));
  params.emplace_back(name, seconds(t));
  return {};
}

// The verb's own --format, else the global --output where that asks for JSON.
Result<std::string> format_of(const Context& context, const std::string& format) {
  if (format.empty()) return std::string(context.options.output == "json" ? "json" : "promql");
  if (format == "promql" || format == "json") return format;
  return Status::invalid("enum value must be one of promql,json, got '" + format + "'");
}

int print_result(Context& context, const Result<json::value>& data, const std::string& format) {
  if (!data) return fail(context, data.error());
  const auto text = answer_text(*data);
  if (!text) return fail(context, text.error());
  if (format == "json") {
    context.out << json_text(data->as_object().at("result")) << "\n";
  } else {
    context.out << *text << "\n";
  }
  return kSuccess;
}

int print_lines(Context& context, const json::value& data, const std::string& format,
                const Result<std::string>& lines) {
  if (!lines) return fail(context, lines.error());
  context.out << (format == "json" ? json_text(data) + "\n" : *lines);
  return kSuccess;
}

Result<Params> range_params(const Context& context, const RangeQuery& query) {
  Timestamp end = context.clock.now();
  if (!query.end.empty()) {
    VAGT_TRY(end, parse_instant(query.end).at("--end"));
  }
  Timestamp start = end - kDefaultRange;
  if (!query.start.empty()) {
    VAGT_TRY(start, parse_instant(query.start).at("--start"));
  }
  if (start >= end) return Status::invalid("start time is not before end time");
  Duration step =
      std::chrono::seconds(std::max<int64_t>((end - start).count() / 1000 / kDefaultSteps, 1));
  if (!query.step.empty()) {
    VAGT_TRY(step, parse_any_duration(query.step).at("--step"));
  }
  return Params{{"query", query.expr},
                {"start", seconds(start)},
                {"end", seconds(end)},
                {"step", format_float(to_seconds(step))}};
}

Result<Params> selection_params(const std::vector<std::string>& matches, const std::string& start,
                                const std::string& end) {
  Params params;
  for (const std::string& match : matches) params.emplace_back("match[]", match);
  VAGT_CHECK_OK(add_instant(params, "start", start));
  VAGT_CHECK_OK(add_instant(params, "end", end));
  return params;
}

}  // namespace

int query_instant(Context& context, const InstantQuery& query) {
  Params params = {{"query", query.expr}};
  const auto format = format_of(context, query.format);
  if (!format) return context.fail(format.error());
  if (query.time.empty()) params.emplace_back("time", seconds(context.clock.now()));
  const Status status = add_instant(params, "time", query.time);
  if (!status.ok()) return context.fail(status);
  auto api = PrometheusApi::connect(context, query.server);
  if (!api) return context.fail(api.error());
  return print_result(context, api->post("/api/v1/query", params), *format);
}

int query_range(Context& context, const RangeQuery& query) {
  const auto format = format_of(context, query.format);
  if (!format) return context.fail(format.error());
  const auto params = range_params(context, query);
  if (!params) {
    context.err << params.error().message() << "\n";  // promtool's own checks have no prefix
    return kFailure;
  }
  auto api = PrometheusApi::connect(context, query.server);
  if (!api) return context.fail(api.error());
  for (const std::string& header : query.headers) {
    const size_t separator = header.find_first_of("=:");
    if (separator == std::string::npos)
      return context.fail("expected HEADER=VALUE got '" + header + "'");
    api->add_header(header.substr(0, separator), header.substr(separator + 1));
  }
  return print_result(context, api->post("/api/v1/query_range", *params), *format);
}

int query_explain(Context& context, const ExplainQuery& query) {
  if (query.server.empty()) {
    query::ParseOptions all;
    all.experimental_functions = all.extended_range_selectors = all.binop_fill_modifiers = true;
    auto expr = query::parse_expr(query.expr, all);
    if (!expr) return context.fail(expr.error());
    context.out << query::explain_plan(*query::make_plan(*expr, query.expr));
    return kSuccess;
  }
  Params params = {{"query", query.expr}};
  if (query.start.empty()) {
    const Status status = add_instant(params, "time", query.time);
    if (!status.ok()) return context.fail(status);
  } else {
    RangeQuery range;
    range.expr = query.expr;
    range.start = query.start;
    range.end = query.end;
    range.step = query.step;
    auto ranged = range_params(context, range);
    if (!ranged) return context.fail(ranged.error());
    params = std::move(*ranged);
  }
  auto api = PrometheusApi::connect(context, query.server);
  if (!api) return context.fail(api.error());
  const auto data = api->post("/api/v1/explain", params);
  if (!data) return fail(context, data.error());
  const json::object* object = data->if_object();
  const auto* text = object != nullptr ? object->if_contains("text") : nullptr;
  if (text == nullptr || !text->is_string()) return context.fail("the answer holds no plan");
  context.out << std::string_view(text->as_string());
  return kSuccess;
}

int query_series(Context& context, const SeriesQuery& query) {
  const auto format = format_of(context, query.format);
  if (!format) return context.fail(format.error());
  const auto params = selection_params(query.matches, query.start, query.end);
  if (!params) return context.fail(params.error());
  auto api = PrometheusApi::connect(context, query.server);
  if (!api) return context.fail(api.error());
  const auto data = api->post("/api/v1/series", *params);
  if (!data) return fail(context, data.error());
  return print_lines(context, *data, *format, series_text(*data));
}

int query_labels(Context& context, const LabelsQuery& query) {
  const auto format = format_of(context, query.format);
  if (!format) return context.fail(format.error());
  const auto params = selection_params(query.matches, query.start, query.end);
  if (!params) return context.fail(params.error());
  auto api = PrometheusApi::connect(context, query.server);
  if (!api) return context.fail(api.error());
  const auto data = api->get("/api/v1/label/" + net::url_encode(query.name) + "/values", *params);
  if (!data) return fail(context, data.error());
  return print_lines(context, *data, *format, values_text(*data));
}

}  // namespace vagt::cli
