#include "cli/prometheus_query.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <ostream>

#include "base/number_text.h"
#include "cli/alertmanager_api.h"
#include "cli/http_profile.h"
#include "cli/json_text.h"
#include "query/parse.h"
#include "query/plan.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

constexpr Duration kDefaultRange = std::chrono::minutes(5);
constexpr int64_t kDefaultSteps = 250;

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::string seconds(Timestamp t) { return format_float(to_seconds(t)); }

// Go's %q for what label values usually hold.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// model.Metric's String: name{a="b", c="d"}
std::string metric_text(const json::object& metric) {
  std::vector<std::string> pairs;
  for (const auto& item : metric) {
    if (item.key() == "__name__" || !item.value().is_string()) continue;
    pairs.push_back(std::string(item.key()) + "=" + quoted(item.value().as_string()));
  }
  std::sort(pairs.begin(), pairs.end());
  const std::string name = text_of(metric, "__name__");
  if (pairs.empty()) return name.empty() ? "{}" : name;
  std::string out = name + "{";
  for (size_t i = 0; i < pairs.size(); ++i) out += (i == 0 ? "" : ", ") + pairs[i];
  return out + "}";
}

// [1435781430.781, "1"] as "1 @[1435781430.781]"
std::string point_text(const json::value& point) {
  if (!point.is_array() || point.as_array().size() != 2) return "?";
  boost::system::error_code error;
  const double t = point.as_array()[0].to_number<double>(error);
  const json::value& value = point.as_array()[1];
  std::string text = value.is_string() ? std::string(value.as_string()) : json_text(value);
  if (const auto number = parse_float(text)) text = format_float(*number);
  return text + " @[" + format_float(t) + "]";
}

const json::object& metric_of(const json::value& item) {
  static const json::object empty;
  if (!item.is_object()) return empty;
  const auto* metric = item.as_object().if_contains("metric");
  return metric != nullptr && metric->is_object() ? metric->as_object() : empty;
}

// Samples of an element under "value" or "values"; native histograms as their JSON.
std::string samples_text(const json::object& item, const char* floats, const char* histograms) {
  std::string out;
  for (const char* key : {floats, histograms}) {
    const auto* samples = item.if_contains(key);
    if (samples == nullptr || !samples->is_array()) continue;
    for (const auto& sample : samples->as_array()) {
      out += (out.empty() ? "" : "\n") + point_text(sample);
    }
  }
  return out;
}

std::string vector_text(const json::array& vector) {
  std::string out;
  for (const auto& item : vector) {
    if (!item.is_object()) continue;
    if (!out.empty()) out += "\n";
    const auto* value = item.as_object().if_contains("value");
    if (value == nullptr) value = item.as_object().if_contains("histogram");
    out += metric_text(metric_of(item)) + " => " + (value ? point_text(*value) : "?");
  }
  return out;
}

std::string matrix_text(const json::array& matrix) {
  std::string out;
  for (const auto& item : matrix) {
    if (!item.is_object()) continue;
    if (!out.empty()) out += "\n";
    out += metric_text(metric_of(item)) + " =>\n";
    out += samples_text(item.as_object(), "values", "histograms");
  }
  return out;
}

// Without the line end.
std::string result_text(const json::object& data) {
  const std::string type = text_of(data, "resultType");
  const auto* result = data.if_contains("result");
  if (result == nullptr || !result->is_array()) return "";
  const json::array& array = result->as_array();
  if (type == "vector") return vector_text(array);
  if (type == "matrix") return matrix_text(array);
  if (type == "scalar") return "scalar: " + point_text(*result);
  if (array.size() == 2 && array[1].is_string()) return std::string(array[1].as_string());
  return json_text(*result);
}

class PrometheusApi {
 public:
  static Result<PrometheusApi> connect(Context& context, const std::string& server) {
    VAGT_TRY(auto profile, load_http_profile(context.options.http_config_file));
    return PrometheusApi(context, server, std::move(profile));
  }
  void add_header(std::string name, std::string value) {
    headers_.emplace_back(std::move(name), std::move(value));
  }
  Result<json::value> post(const std::string& path, const Params& params) {
    net::HttpRequest request = make_request("POST", path);
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = query_string(params);
    return call(std::move(request), "Post", path);
  }
  Result<json::value> get(const std::string& path, const Params& params) {
    return call(make_request("GET", path + "?" + query_string(params)), "Get", path);
  }

 private:
  PrometheusApi(Context& context, std::string server,
                std::shared_ptr<const net::HttpClientConfig> profile)
      : context_(&context), server_(std::move(server)), profile_(std::move(profile)) {}

  net::HttpRequest make_request(const std::string& method, const std::string& target) const {
    net::HttpRequest request;
    request.method = method;
    request.url = Secret(base_url(server_) + target);
    request.headers = headers_;
    request.timeout = std::chrono::minutes(2);
    request.max_body_bytes = 1u << 30;
    return request;
  }

  // The answer's data; errors as promtool words them.
  Result<json::value> call(net::HttpRequest request, const char* verb, const std::string& path) {
    auto answer = context_->http.fetch(std::move(request), profile_);
    if (!answer) {
      return std::move(answer).error().at(std::string(verb) + " \"" + shown_url(server_) + path +
                                          "\"");
    }
    boost::system::error_code error;
    json::value root = json::parse(answer->body, error);
    if (error || !root.is_object()) {
      return Status(Code::Unavailable,
                    "server_error: server error: " + std::to_string(answer->status));
    }
    json::object& object = root.as_object();
    warn(object);
    if (text_of(object, "status") == "success") return std::move(object["data"]);
    return Status(Code::Unavailable,
                  text_of(object, "errorType") + ": " + text_of(object, "error"));
  }

  void warn(const json::object& object) {
    const auto* warnings = object.if_contains("warnings");
    if (warnings == nullptr || !warnings->is_array()) return;
    for (const auto& warning : warnings->as_array()) {
      if (warning.is_string())
        context_->err << "query warning: " << std::string(warning.as_string()) << "\n";
    }
  }

  Context* context_;
  std::string server_;
  std::shared_ptr<const net::HttpClientConfig> profile_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

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
  if (!data->is_object())
    return fail(context, Status(Code::Unavailable, "the answer holds no data"));
  const json::object& object = data->as_object();
  if (format == "json") {
    const auto* result = object.if_contains("result");
    context.out << (result ? json_text(*result) : "null") << "\n";
  } else {
    context.out << result_text(object) << "\n";
  }
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
  if (*format == "json") {
    context.out << json_text(*data) << "\n";
    return kSuccess;
  }
  if (!data->is_array()) return kSuccess;
  for (const auto& series : data->as_array()) {
    if (series.is_object()) context.out << metric_text(series.as_object()) << "\n";
  }
  return kSuccess;
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
  if (*format == "json") {
    context.out << json_text(*data) << "\n";
    return kSuccess;
  }
  if (!data->is_array()) return kSuccess;
  for (const auto& value : data->as_array()) {
    if (value.is_string()) context.out << std::string(value.as_string()) << "\n";
  }
  return kSuccess;
}

}  // namespace vagt::cli
