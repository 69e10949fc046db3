#include "engine/api/v1_query.h"

#include <fmt/core.h>

#include "engine/api/v1_envelope.h"
#include "engine/api/v1_exemplars.h"
#include "query/parse_json.h"

namespace vagt::engine::api {
namespace {

constexpr int64_t kMaxPoints = 11'000;

void write_point(std::string& out, Timestamp t, double v) {
  out += '[';
  append_json_time(out, t);
  out += ",\"";
  append_json_value(out, v);
  out += "\"]";
}

struct ValueWriter {
  base::JsonWriter& w;

  void point(Timestamp t, double v) const {
    std::string text;
    write_point(text, t, v);
    w.raw(text);
  }
  void operator()(const query::ScalarValue& scalar) const {
    w.key("resultType").string("scalar").key("result");
    point(scalar.t, scalar.v);
  }
  void operator()(const query::StringValue& text) const {
    std::string at;
    append_json_time(at, text.t);
    w.key("resultType")
        .string("string")
        .key("result")
        .begin_array()
        .raw(at)
        .string(text.text)
        .end_array();
  }
  void operator()(const query::Vector& vector) const {
    w.key("resultType").string("vector").key("result").begin_array();
    for (const query::VectorSample& sample : vector) {
      w.begin_object().key("metric").labels(sample.labels).key("value");
      point(sample.t, sample.v);
      w.end_object();
    }
    w.end_array();
  }
  void operator()(const query::Matrix& matrix) const {
    w.key("resultType").string("matrix").key("result").begin_array();
    std::string points;
    for (const query::Series& series : matrix) {
      points.clear();
      for (size_t i = 0; i < series.samples.size(); ++i) {
        if (i > 0) points += ',';
        write_point(points, series.samples.t[i], series.samples.v[i]);
      }
      w.begin_object().key("metric").labels(series.labels).key("values").begin_array();
      if (!points.empty()) w.raw(points);
      w.end_array().end_object();
    }
    w.end_array();
  }
};

void write_stats(base::JsonWriter& w, const query::EvalStats& stats, double seconds) {
  w.key("stats").begin_object().key("timings").begin_object();
  w.key("evalTotalTime")
      .number(seconds)
      .key("resultSortTime")
      .number(0)
      .key("queryPreparationTime")
      .number(0);
  w.key("innerEvalTime")
      .number(seconds)
      .key("execQueueTime")
      .number(0)
      .key("execTotalTime")
      .number(seconds);
  w.end_object().key("samples").begin_object();
  w.key("totalQueryableSamples").integer(static_cast<int64_t>(stats.samples_read));
  w.key("peakSamples").integer(static_cast<int64_t>(stats.peak_samples)).end_object().end_object();
}

// Keeps the first `limit` series and says so.
void truncate(query::QueryResult& result, size_t limit) {
  if (limit == 0) return;
  bool cut = false;
  const auto shorten = [&](auto& rows) {
    if (rows.size() <= limit) return;
    rows.resize(limit);
    cut = true;
  };
  if (auto* vector = std::get_if<query::Vector>(&result.value)) shorten(*vector);
  if (auto* matrix = std::get_if<query::Matrix>(&result.value)) shorten(*matrix);
  if (cut) result.warnings.emplace_back("results truncated due to limit");
}

// What both query endpoints read besides their times.
struct QueryParams {
  query::PlanPtr plan;
  query::EvalOptions options;
  size_t limit = 0;
  bool stats = false;
};

Result<QueryParams> read_query_params(const net::ServerRequest& request,
                                      const QueryContext& context) {
  QueryParams params;
  VAGT_TRY(params.limit, limit_param(request));
  params.options = context.eval_options();
  if (const auto text = request.param("timeout"); text && !text->empty()) {
    auto timeout = parse_duration_text(*text);
    if (!timeout.ok())
      return Status::invalid(
          fmt::format("invalid parameter \"timeout\": {}", timeout.error().message()));
    params.options.timeout = std::min(params.options.timeout, *timeout);
  }
  if (const auto text = request.param("lookback_delta"); text && !text->empty()) {
    auto lookback = parse_duration_text(*text);
    if (!lookback.ok())
      return Status::invalid(
          fmt::format("error parsing lookback delta duration: {}", lookback.error().message()));
    if (*lookback > Duration::zero()) params.options.lookback = *lookback;
  }
  const std::string_view text = request.param("query").value_or("");
  auto expr = query::parse_expr(text, context.parse);
  if (!expr.ok())
    return Status::invalid(fmt::format("invalid parameter \"query\": {}", expr.error().message()));
  params.plan = query::make_plan(std::move(expr).value(), std::string(text));
  params.stats = !request.param("stats").value_or("").empty();
  return params;
}

net::ServerResponse answer(Result<query::QueryResult> result, const QueryParams& params,
                           const query::EvalStats& stats, double seconds) {
  if (!result.ok()) return v1_error(v1_error_of(result.error()), result.error().message());
  truncate(*result, params.limit);
  return v1_success(
      [&](base::JsonWriter& w) {
        w.begin_object();
        std::visit(ValueWriter{w}, result->value);
        if (params.stats) write_stats(w, stats, seconds);
        w.end_object();
      },
      result->warnings, result->infos);
}

double seconds_since(const Clock& clock, std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(clock.steady_now() - begin).count();
}

net::ServerResponse instant_query(const QueryContext& context, const net::ServerRequest& request) {
  const auto at = time_param(request, "time", context.clock.now());
  if (!at.ok()) return v1_error(V1Error::BadData, at.error().message());
  const auto params = read_query_params(request, context);
  if (!params.ok()) return v1_error(V1Error::BadData, params.error().message());
  query::EvalStats stats;
  const auto begin = context.clock.steady_now();
  auto result = query::eval_instant(*params->plan, context.store, *at, params->options,
                                    request.closed, &stats);
  return answer(std::move(result), *params, stats, seconds_since(context.clock, begin));
}

struct Range {
  Timestamp start, end;
  Duration step;
};

Result<Range> read_range(const net::ServerRequest& request) {
  Range range{};
  const auto required_time = [&request](std::string_view name) -> Result<Timestamp> {
    return parse_time_text(request.param(name).value_or(""))
        .at(fmt::format("invalid parameter \"{}\"", name));
  };
  VAGT_TRY(range.start, required_time("start"));
  VAGT_TRY(range.end, required_time("end"));
  if (range.end < range.start)
    return Status::invalid(
        "invalid parameter \"end\": end timestamp must not be before start time");
  VAGT_TRY(
      range.step,
      parse_duration_text(request.param("step").value_or("")).at("invalid parameter \"step\""));
  if (range.step <= Duration::zero())
    return Status::invalid(
        "invalid parameter \"step\": zero or negative query resolution step widths are not "
        "accepted. Try a positive "
        "integer");
  if ((range.end - range.start) / range.step > kMaxPoints)
    return Status::invalid(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query "
        "resolution "
        "(?step=XX)");
  return range;
}

net::ServerResponse range_query(const QueryContext& context, const net::ServerRequest& request) {
  const auto range = read_range(request);
  if (!range.ok()) return v1_error(V1Error::BadData, range.error().message());
  const auto params = read_query_params(request, context);
  if (!params.ok()) return v1_error(V1Error::BadData, params.error().message());
  const query::ValueType type = query::plan_expr(*params->plan).type;
  if (type != query::ValueType::Scalar && type != query::ValueType::Vector)
    return v1_bad_parameter(
        "query",
        fmt::format(
            "invalid expression type \"{}\" for range query, must be Scalar or instant Vector",
            query::documented_type(type)));
  query::EvalStats stats;
  const auto begin = context.clock.steady_now();
  auto result = query::eval_range(*params->plan, context.store, range->start, range->end,
                                  range->step, params->options, request.closed, &stats);
  return answer(std::move(result), *params, stats, seconds_since(context.clock, begin));
}

net::ServerResponse format_query(const QueryContext& context, const net::ServerRequest& request) {
  const auto expr = query::parse_expr(request.param("query").value_or(""), context.parse);
  if (!expr.ok()) return v1_bad_parameter("query", expr.error().message());
  return v1_success([&](base::JsonWriter& w) { w.string(query::format_expr(**expr)); });
}

net::ServerResponse parse_query(const QueryContext& context, const net::ServerRequest& request) {
  const auto expr = query::parse_expr(request.param("query").value_or(""), context.parse);
  if (!expr.ok()) return v1_bad_parameter("query", expr.error().message());
  return v1_success([&](base::JsonWriter& w) { w.raw(query::expr_to_json(**expr)); });
}

// Ours: what each node of the plan read, gave and took; as /query with `time`, as /query_range with
// `start`. Without the result.
net::ServerResponse explain(const QueryContext& context, const net::ServerRequest& request) {
  auto params = read_query_params(request, context);
  if (!params.ok()) return v1_error(V1Error::BadData, params.error().message());
  params->options.trace = true;
  query::EvalStats stats;
  const auto begin = context.clock.steady_now();
  const Result<query::QueryResult> result = [&]() -> Result<query::QueryResult> {
    if (!request.param("start")) {
      VAGT_TRY(const Timestamp at, time_param(request, "time", context.clock.now()));
      return query::eval_instant(*params->plan, context.store, at, params->options, request.closed,
                                 &stats);
    }
    VAGT_TRY(const Range range, read_range(request));
    return query::eval_range(*params->plan, context.store, range.start, range.end, range.step,
                             params->options, request.closed, &stats);
  }();
  if (!result.ok()) return v1_error(v1_error_of(result.error()), result.error().message());
  const double seconds = seconds_since(context.clock, begin);
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("text").string(query::explain_run(stats));
    w.key("seconds").number(seconds).key("peakSamples");
    w.integer(static_cast<int64_t>(stats.peak_samples)).key("nodes").begin_array();
    for (const query::NodeCost& node : stats.nodes) {
      w.begin_object().key("depth").integer(static_cast<int64_t>(node.depth));
      w.key("expr").string(node.expr);
      w.key("type").string(query::value_type_name(node.type));
      w.key("seriesRead").integer(static_cast<int64_t>(node.series_read));
      w.key("samplesRead").integer(static_cast<int64_t>(node.samples_read));
      w.key("series").integer(static_cast<int64_t>(node.series));
      w.key("values").integer(static_cast<int64_t>(node.values));
      w.key("seconds").number(node.seconds).end_object();
    }
    w.end_array().end_object();
  });
}

}  // namespace

void add_query_routes(Router& router, const QueryContext& context) {
  using Function = net::ServerResponse (*)(const QueryContext&, const net::ServerRequest&);
  const auto bind = [&context](Function function) {
    return [&context, function](const net::ServerRequest& request, const PathArgs&) {
      return function(context, request);
    };
  };
  router.get_or_post("/api/v1/query", Lane::Query, bind(instant_query));
  router.get_or_post("/api/v1/query_range", Lane::Query, bind(range_query));
  router.get_or_post("/api/v1/explain", Lane::Query, bind(explain));
  router.get_or_post("/api/v1/query_exemplars", Lane::Query, bind(query_exemplars));
  router.get_or_post("/api/v1/format_query", Lane::Query, bind(format_query));
  router.get_or_post("/api/v1/parse_query", Lane::Query, bind(parse_query));
}

}  // namespace vagt::engine::api
