#include <fmt/core.h>

#include <map>

#include "base/number_text.h"
#include "base/yaml.h"
#include "engine/api/v1_envelope.h"
#include "engine/api/v1_status.h"

namespace vagt::engine::api {
namespace {

// Go's zero time is what Prometheus shows for "never".
std::string instant_text(Timestamp t) {
  return t == Timestamp{} ? "0001-01-01T00:00:00Z" : format_rfc3339(t);
}

void write_target(base::JsonWriter& w, const scrape::TargetView& target) {
  w.begin_object()
      .key("discoveredLabels")
      .labels(target.discovered_labels)
      .key("labels")
      .labels(target.labels);
  w.key("scrapePool").string(target.pool).key("scrapeUrl").string(target.scrape_url);
  w.key("globalUrl").string(target.scrape_url).key("lastError").string(target.last_error);
  w.key("lastScrape").string(instant_text(target.last_scrape));
  w.key("lastScrapeDuration").number(target.last_duration_seconds);
  w.key("health").string(scrape::health_name(target.health));
  w.key("scrapeInterval").string(format_duration(target.interval));
  w.key("scrapeTimeout").string(format_duration(target.timeout));
  if (!target.warnings.empty()) {
    w.key("warnings").begin_array();
    for (const std::string& warning : target.warnings) w.string(warning);
    w.end_array();
  }
  w.end_object();
}

net::ServerResponse targets(const StatusContext& context, const net::ServerRequest& request) {
  const std::string_view state = request.param("state").value_or("");
  const std::string_view pool = request.param("scrapePool").value_or("");
  const bool active = state != "dropped",
             dropped = state.empty() || state == "any" || state == "dropped";
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("activeTargets").begin_array();
    if (active)
      for (const scrape::TargetView& target : context.scrape.active_targets(pool))
        write_target(w, target);
    w.end_array().key("droppedTargets").begin_array();
    if (dropped) {
      for (const scrape::DroppedTargetView& target : context.scrape.dropped_targets(pool)) {
        w.begin_object().key("discoveredLabels").labels(target.discovered_labels);
        w.key("scrapePool").string(target.pool).end_object();
      }
    }
    w.end_array().key("droppedTargetCounts").begin_object();
    const std::vector<scrape::PoolView> pools = context.scrape.pools();
    for (const scrape::PoolView& view : pools)
      if (pool.empty() || view.name == pool)
        w.key(view.name).integer(static_cast<int64_t>(view.dropped));
    w.end_object().key("poolErrors").begin_object();
    for (const scrape::PoolView& view : pools) {
      if (view.errors.empty()) continue;
      w.key(view.name).begin_array();
      for (const std::string& error : view.errors) w.string(error);
      w.end_array();
    }
    w.end_object().end_object();
  });
}

net::ServerResponse scrape_pools(const StatusContext& context, const net::ServerRequest&) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("scrapePools").begin_array();
    for (const scrape::PoolView& pool : context.scrape.pools()) w.string(pool.name);
    w.end_array().end_object();
  });
}

void write_relabel_rule(base::JsonWriter& w, const scrape::RelabelConfig& rule) {
  w.begin_object();
  if (!rule.source_labels.empty()) {
    w.key("sourceLabels").begin_array();
    for (const std::string& name : rule.source_labels) w.string(name);
    w.end_array();
  }
  w.key("separator").string(rule.separator).key("regex").string(rule.regex);
  if (rule.modulus != 0) w.key("modulus").integer(static_cast<int64_t>(rule.modulus));
  if (!rule.target_label.empty()) w.key("targetLabel").string(rule.target_label);
  w.key("replacement").string(rule.replacement);
  w.key("action").string(scrape::relabel_action_name(rule.action)).end_object();
}

Result<Labels> labels_of_json(std::string_view text) {
  VAGT_TRY(const base::YamlNode node, base::parse_yaml(text, "labels"));  // JSON is YAML's subset
  if (!node.is_map()) return node.error("expected an object of strings");
  std::map<std::string, std::string> labels;
  for (const base::YamlNode::Entry& entry : node.entries()) {
    VAGT_TRY(labels[entry.key], entry.value.as_string());
  }
  return Labels::from_map(labels);
}

// What each relabelling rule of a pool makes of the discovered labels given as a JSON object.
net::ServerResponse relabel_steps(const StatusContext& context, const net::ServerRequest& request) {
  const std::string_view pool = request.param("scrapePool").value_or("");
  if (pool.empty()) return v1_error(V1Error::BadData, "no scrapePool parameter provided");
  const std::string_view text = request.param("labels").value_or("");
  if (text.empty()) return v1_error(V1Error::BadData, "no labels parameter provided");
  const auto labels = labels_of_json(text);
  if (!labels.ok()) return v1_bad_parameter("labels", labels.error().message());
  const auto steps = context.scrape.relabel_steps(pool, *labels);
  if (!steps.ok()) return v1_error(V1Error::BadData, steps.error().message());
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("steps").begin_array();
    for (const auto& [rule, output] : *steps) {
      write_relabel_rule(w.begin_object().key("rule"), rule);
      w.key("output").labels(output.value_or(Labels()));
      w.key("keep").boolean(output.has_value()).end_object();
    }
    w.end_array().end_object();
  });
}

net::ServerResponse targets_metadata(const StatusContext& context,
                                     const net::ServerRequest& request) {
  size_t limit = SIZE_MAX;
  if (const auto text = request.param("limit"); text && !text->empty()) {
    const auto n = parse_int(*text);
    if (!n) return v1_error(V1Error::BadData, "limit must be a number");
    if (*n >= 0) limit = static_cast<size_t>(*n);
  }
  std::vector<Matcher> matchers;
  if (const auto text = request.param("match_target"); text && !text->empty()) {
    auto parsed = query::parse_metric_selector(*text);
    if (!parsed.ok()) return v1_bad_parameter("match_target", parsed.error().message());
    matchers = std::move(parsed).value();
  }
  const std::string_view metric = request.param("metric").value_or("");
  const auto rows = context.scrape.metadata(
      [&matchers](const Labels& target) { return matches_all(matchers, target); });
  return v1_success([&](base::JsonWriter& w) {
    w.begin_array();
    size_t written = 0;
    for (const scrape::TargetMetadata& row : rows) {
      if (!metric.empty() && row.metric != metric) continue;
      if (written++ >= limit) break;
      w.begin_object().key("target").labels(row.target);
      if (metric.empty()) w.key("metric").string(row.metric);
      w.key("type").string(row.metadata.type).key("help").string(row.metadata.help);
      w.key("unit").string(row.metadata.unit).end_object();
    }
    w.end_array();
  });
}

net::ServerResponse alertmanagers(const StatusContext& context, const net::ServerRequest&) {
  const ExternalAlertmanagers found = context.alertmanagers();
  const auto write = [](base::JsonWriter& w, const std::vector<std::string>& urls) {
    w.begin_array();
    for (const std::string& url : urls) w.begin_object().key("url").string(url).end_object();
    w.end_array();
  };
  return v1_success([&](base::JsonWriter& w) {
    write(w.begin_object().key("activeAlertmanagers"), found.active);
    write(w.key("droppedAlertmanagers"), found.dropped);
    w.end_object();
  });
}

}  // namespace

void add_target_routes(Router& router, const StatusContext& context) {
  using Function = net::ServerResponse (*)(const StatusContext&, const net::ServerRequest&);
  const auto add = [&](std::string_view path, Function function) {
    router.get(path, Lane::Control,
               [&context, function](const net::ServerRequest& request, const PathArgs&) {
                 return function(context, request);
               });
  };
  add("/api/v1/targets", targets);
  add("/api/v1/scrape_pools", scrape_pools);
  add("/api/v1/targets/metadata", targets_metadata);
  add("/api/v1/targets/relabel_steps", relabel_steps);
  add("/api/v1/alertmanagers", alertmanagers);
}

}  // namespace vagt::engine::api
