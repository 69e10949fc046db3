#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/number_text.h"
#include "engine/api/v1_envelope.h"
#include "engine/api/v1_status.h"

namespace vagt::engine::api {
namespace {

constexpr std::string_view kNever = "0001-01-01T00:00:00Z";

std::string instant_text(const std::optional<Timestamp>& t) {
  return t ? format_rfc3339(*t) : std::string(kNever);
}

// Go's FormatFloat(v, 'e', -1, 64): "9.1e+01".
std::string exponent_text(double v) {
  if (!std::isfinite(v)) return format_float(v);
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  return {buffer, error == std::errc() ? end : buffer};
}

void write_text_map(base::JsonWriter& w, const std::map<std::string, std::string>& map) {
  w.begin_object();
  for (const auto& [name, text] : map) w.key(name).string(text);
  w.end_object();
}

void write_alert(base::JsonWriter& w, const rules::AlertView& alert) {
  w.begin_object().key("labels").labels(alert.labels).key("annotations");
  write_text_map(w, alert.annotations ? *alert.annotations : Annotations{});
  w.key("state")
      .string(alert_state_name(alert.state))
      .key("activeAt")
      .string(format_rfc3339(alert.active_at));
  if (alert.keep_firing_since)
    w.key("keepFiringSince").string(format_rfc3339(*alert.keep_firing_since));
  w.key("value").string(exponent_text(alert.value)).end_object();
}

void write_rule(base::JsonWriter& w, const rules::RuleView& rule, bool with_alerts) {
  w.begin_object();
  if (rule.alerting) w.key("state").string(rule.state ? alert_state_name(*rule.state) : "unknown");
  w.key("name").string(rule.name).key("query").string(rule.query);
  if (rule.alerting) {
    w.key("duration")
        .number(to_seconds(rule.hold_for))
        .key("keepFiringFor")
        .number(to_seconds(rule.keep_firing_for));
  }
  write_text_map(w.key("labels"), rule.labels);
  if (rule.alerting) {
    write_text_map(w.key("annotations"), rule.annotations);
    w.key("alerts").begin_array();
    if (with_alerts)
      for (const rules::AlertView& alert : rule.alerts) write_alert(w, alert);
    w.end_array();
  }
  w.key("health").string(rules::rule_health_name(rule.health));
  if (!rule.last_error.empty()) w.key("lastError").string(rule.last_error);
  w.key("evaluationTime").number(rule.evaluation_seconds);
  w.key("lastEvaluation").string(instant_text(rule.last_evaluation));
  w.key("type").string(rule.alerting ? "alerting" : "recording").end_object();
}

// What /api/v1/rules was asked for.
struct RuleFilter {
  bool alerting = true, recording = true, with_alerts = true;
  std::vector<std::string_view> names, groups, files;
  MatcherSets sets;
  size_t group_limit = 0;
  std::string_view next_token;

  static bool listed(const std::vector<std::string_view>& list, std::string_view word) {
    return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
  }
  bool takes(const rules::GroupView& group) const {
    return listed(groups, group.name) && listed(files, group.file);
  }
  bool takes(const rules::RuleView& rule) const {
    if (!(rule.alerting ? alerting : recording) || !listed(names, rule.name)) return false;
    if (sets.empty()) return true;
    // Labels that are templates match any value, as upstream has it.
    const Labels labels = Labels::from_map(rule.labels);
    return std::any_of(sets.begin(), sets.end(), [&](const std::vector<Matcher>& set) {
      return std::all_of(set.begin(), set.end(), [&](const Matcher& matcher) {
        const std::string_view value = labels.get(matcher.name());
        return value.find("{{") != std::string_view::npos || matcher.matches(value);
      });
    });
  }
};

Result<RuleFilter> read_filter(const net::ServerRequest& request) {
  RuleFilter filter;
  const std::string_view type = request.param("type").value_or("");
  if (!type.empty() && type != "alert" && type != "record")
    return Status::invalid(
        fmt::format("invalid parameter \"type\": not supported value {}", quote(type)));
  filter.alerting = type != "record";
  filter.recording = type != "alert";
  filter.names = request.param_all("rule_name[]");
  filter.groups = request.param_all("rule_group[]");
  filter.files = request.param_all("file[]");
  VAGT_TRY(filter.sets, match_params(request));
  const std::string_view exclude = request.param("exclude_alerts").value_or("");
  if (!exclude.empty() && exclude != "true" && exclude != "false" && exclude != "1" &&
      exclude != "0")
    return Status::invalid(
        "invalid parameter \"exclude_alerts\": error converting exclude_alerts: invalid syntax");
  filter.with_alerts = exclude != "true" && exclude != "1";
  filter.next_token = request.param("group_next_token").value_or("");
  if (const auto text = request.param("group_limit"); text && !text->empty()) {
    const auto n = parse_int(*text);
    if (!n || *n <= 0)
      return Status::invalid(
          "invalid parameter \"group_limit\": group_limit needs to be a valid number > 0");
    filter.group_limit = static_cast<size_t>(*n);
  } else if (!filter.next_token.empty()) {
    return Status::invalid(
        "invalid parameter \"group_limit\": group_limit needs to be present in order to paginate "
        "over the groups");
  }
  return filter;
}

// Names a group between pages; opaque to clients.
std::string group_token(const rules::GroupView& group) {
  return fmt::format("{:016x}",
                     Labels::of({{"file", group.file}, {"name", group.name}}).fingerprint());
}

void write_group(base::JsonWriter& w, const rules::GroupView& group, const RuleFilter& filter) {
  w.begin_object()
      .key("name")
      .string(group.name)
      .key("file")
      .string(group.file)
      .key("rules")
      .begin_array();
  for (const rules::RuleView& rule : group.rules)
    if (filter.takes(rule)) write_rule(w, rule, filter.with_alerts);
  w.end_array().key("interval").number(to_seconds(group.interval));
  w.key("limit")
      .integer(static_cast<int64_t>(group.limit))
      .key("evaluationTime")
      .number(group.evaluation_seconds);
  w.key("lastEvaluation").string(instant_text(group.last_evaluation)).end_object();
}

net::ServerResponse list_rules(const StatusContext& context, const net::ServerRequest& request) {
  const auto filter = read_filter(request);
  if (!filter.ok()) return v1_error(V1Error::BadData, filter.error().message());
  const std::vector<rules::GroupView> groups = context.rules.view();
  size_t begin = 0;
  if (!filter->next_token.empty()) {
    while (begin < groups.size() && group_token(groups[begin]) != filter->next_token) ++begin;
    if (begin == groups.size())
      return v1_bad_parameter("group_next_token", fmt::format("group_next_token '{}' was not found",
                                                              filter->next_token));
  }
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("groups").begin_array();
    size_t written = 0, i = begin;
    for (; i < groups.size(); ++i) {
      const rules::GroupView& group = groups[i];
      const bool any =
          std::any_of(group.rules.begin(), group.rules.end(),
                      [&](const rules::RuleView& rule) { return filter->takes(rule); });
      if (!filter->takes(group) || !any) continue;
      if (filter->group_limit > 0 && written == filter->group_limit) break;
      write_group(w, group, *filter);
      ++written;
    }
    w.end_array();
    if (i < groups.size()) w.key("groupNextToken").string(group_token(groups[i]));
    w.end_object();
  });
}

net::ServerResponse list_alerts(const StatusContext& context, const net::ServerRequest&) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("alerts").begin_array();
    for (const rules::GroupView& group : context.rules.view())
      for (const rules::RuleView& rule : group.rules)
        for (const rules::AlertView& alert : rule.alerts) write_alert(w, alert);
    w.end_array().end_object();
  });
}

}  // namespace

void add_rule_routes(Router& router, const StatusContext& context) {
  router.get("/api/v1/rules", Lane::Control,
             [&context](const net::ServerRequest& request, const PathArgs&) {
               return list_rules(context, request);
             });
  router.get("/api/v1/alerts", Lane::Control,
             [&context](const net::ServerRequest& request, const PathArgs&) {
               return list_alerts(context, request);
             });
}

}  // namespace vagt::engine::api
