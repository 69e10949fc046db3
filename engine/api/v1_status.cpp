#include "engine/api/v1_status.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/number_text.h"
#include "base/version.h"
#include "engine/api/v1_envelope.h"

namespace vagt::engine::api {
namespace {

// Clients choose their features by this number: it says whose API we speak; ours is the build
// metadata behind it.
constexpr std::string_view kPrometheusVersion = "3.14.0";

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// "15d or 512MiB", as Prometheus words it.
std::string retention_text(const ReloadView& reload) {
  std::string text =
      reload.retention_time > Duration::zero() ? format_duration(reload.retention_time) : "";
  if (reload.retention_size > 0) {
    constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    uint64_t size = reload.retention_size;
    while (size % 1024 == 0 && unit + 1 < std::size(kUnits)) size /= 1024, ++unit;
    text += fmt::format("{}{}{}", text.empty() ? "" : " or ", size, kUnits[unit]);
  }
  return text;
}

net::ServerResponse status_config(const StatusContext& context, const net::ServerRequest&) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("yaml").string(context.reload().config_text).end_object();
  });
}

net::ServerResponse status_flags(const StatusContext& context, const net::ServerRequest&) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object();
    for (const auto& [name, text] : context.flags.texts) w.key(name).string(text);
    w.end_object();
  });
}

net::ServerResponse status_buildinfo(const StatusContext&, const net::ServerRequest&) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("version").string(fmt::format("{}+vagt.{}", kPrometheusVersion, kVersion));
    w.key("revision")
        .string("")
        .key("branch")
        .string("")
        .key("buildUser")
        .string("")
        .key("buildDate")
        .string("");
    w.key("goVersion").string("").end_object();
  });
}

net::ServerResponse status_runtimeinfo(const StatusContext& context, const net::ServerRequest&) {
  const ReloadView reload = context.reload();
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error).string();
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object()
        .key("startTime")
        .string(format_rfc3339(context.started))
        .key("CWD")
        .string(cwd);
    w.key("hostname")
        .string(host_name())
        .key("serverTime")
        .string(format_rfc3339(context.clock.now()));
    w.key("reloadConfigSuccess").boolean(reload.success);
    if (!reload.error.empty()) w.key("reloadConfigError").string(reload.error);
    w.key("lastConfigTime")
        .string(format_rfc3339(reload.last_success))
        .key("corruptionCount")
        .integer(0);
    // Go's own figures have no counterpart; clients ask for the keys.
    w.key("goroutineCount")
        .integer(0)
        .key("GOMAXPROCS")
        .integer(std::thread::hardware_concurrency());
    w.key("GOMEMLIMIT").integer(0).key("GOGC").string("").key("GODEBUG").string("");
    w.key("storageRetention").string(retention_text(reload)).end_object();
  });
}

void write_counts(base::JsonWriter& w, std::string_view key,
                  const std::vector<tsdb::NamedCount>& counts) {
  w.key(key).begin_array();
  for (const tsdb::NamedCount& count : counts)
    w.begin_object()
        .key("name")
        .string(count.name)
        .key("value")
        .integer(static_cast<int64_t>(count.value))
        .end_object();
  w.end_array();
}

// Ours, and only once series were refused: elsewhere the answer is Prometheus's.
void write_guard(base::JsonWriter& w, const tsdb::StoreStats& stats,
                 const tsdb::CardinalityStats& cardinality) {
  w.key("cardinalityGuard").begin_object();
  w.key("seriesRefused").integer(static_cast<int64_t>(stats.series_refused));
  w.key("overBudget").string(stats.over_budget);
  if (const auto& exploding = cardinality.exploding)
    w.key("exploding")
        .begin_object()
        .key("metric")
        .string(exploding->metric)
        .key("label")
        .string(exploding->label)
        .key("series")
        .integer(static_cast<int64_t>(exploding->series))
        .key("values")
        .integer(static_cast<int64_t>(exploding->values))
        .end_object();
  w.end_object();
}

net::ServerResponse status_tsdb(const StatusContext& context, const net::ServerRequest& request) {
  size_t top = 10;
  if (const auto text = request.param("limit"); text && !text->empty()) {
    const auto n = parse_int(*text);
    if (!n || *n < 1) return v1_error(V1Error::BadData, "limit must be a positive number");
    if (*n > 10'000) return v1_error(V1Error::BadData, "limit must not exceed 10000");
    top = static_cast<size_t>(*n);
  }
  const tsdb::StoreStats stats = context.store.stats();
  const tsdb::CardinalityStats cardinality = context.store.cardinality(top);
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("headStats").begin_object();
    w.key("numSeries").integer(static_cast<int64_t>(stats.head_series));
    w.key("numLabelPairs").integer(static_cast<int64_t>(cardinality.label_pairs));
    w.key("chunkCount").integer(static_cast<int64_t>(stats.head_chunks));
    w.key("minTime").integer(stats.min_time ? to_millis(*stats.min_time) : 0);
    w.key("maxTime").integer(stats.max_time ? to_millis(*stats.max_time) : 0).end_object();
    write_counts(w, "seriesCountByMetricName", cardinality.series_by_metric);
    write_counts(w, "labelValueCountByLabelName", cardinality.values_by_label);
    write_counts(w, "memoryInBytesByLabelName", cardinality.bytes_by_label);
    write_counts(w, "seriesCountByLabelValuePair", cardinality.series_by_pair);
    if (stats.series_refused > 0) write_guard(w, stats, cardinality);
    w.end_object();
  });
}

net::ServerResponse status_walreplay(const StatusContext&, const net::ServerRequest&) {
  return v1_success([](base::JsonWriter& w) {
    w.begin_object()
        .key("min")
        .integer(0)
        .key("max")
        .integer(0)
        .key("current")
        .integer(0)
        .end_object();
  });
}

}  // namespace

void add_status_routes(Router& router, const StatusContext& context) {
  using Function = net::ServerResponse (*)(const StatusContext&, const net::ServerRequest&);
  const auto add = [&](std::string_view path, Function function, Lane lane = Lane::Control) {
    router.get(path, lane,
               [&context, function](const net::ServerRequest& request, const PathArgs&) {
                 return function(context, request);
               });
  };
  add("/api/v1/status/config", status_config);
  add("/api/v1/status/flags", status_flags);
  add("/api/v1/status/buildinfo", status_buildinfo);
  add("/api/v1/status/runtimeinfo", status_runtimeinfo);
  add("/api/v1/status/tsdb", status_tsdb, Lane::Query);  // walks every series
  add("/api/v1/status/walreplay", status_walreplay);
}

}  // namespace vagt::engine::api
