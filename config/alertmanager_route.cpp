// Routes and inhibition rules: everything with matchers in it.
#include <fmt/core.h>

#include <set>

#include "config/alertmanager_sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

// match: {name: value} and match_re.
Status read_match(const YamlNode* node, bool regex, std::vector<Matcher>& out) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_map()) return node->error("expected a map of label names");
  for (const YamlNode::Entry& entry : node->entries()) {
    if (!is_legacy_label_name(entry.key)) {
      return entry.value.error(fmt::format("invalid label name {}", quote(entry.key)));
    }
    if (regex && entry.value.is_null()) {
      return entry.value.error(fmt::format("invalid regexp value for {}", quote(entry.key)));
    }
    VAGT_TRY(std::string value, entry.value.as_string());
    // Group keys show these anchors: they are part of the notification log's keys.
    if (regex) value = "^(?:" + value + ")$";
    auto matcher =
        Matcher::make(regex ? MatchOp::Regex : MatchOp::Equal, entry.key, std::move(value));
    if (!matcher.ok()) return entry.value.error(matcher.error().message());
    out.push_back(std::move(matcher).value());
  }
  return {};
}

Status read_matchers(const YamlNode* node, notify::MatcherSyntax syntax,
                     std::vector<Matcher>& out) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_sequence()) {
    return node->error(fmt::format("line {}: cannot unmarshal !!str `{}` into []string",
                                   node->line(), node->scalar()));
  }
  for (const YamlNode& item : node->items()) {
    VAGT_TRY(std::string text, item.as_string());
    auto matchers = notify::parse_matchers(text, syntax);
    if (!matchers.ok()) return item.error(matchers.error().message());
    out.insert(out.end(), matchers->begin(), matchers->end());
  }
  return {};
}

// A name that starts like a flag is a slip of the pen even where UTF-8 names are allowed.
bool is_plausible_name(const std::string& name, notify::MatcherSyntax syntax) {
  return notify::is_label_name(name, syntax) && !name.starts_with('-');
}

Status read_group_by(const YamlNode& node, notify::MatcherSyntax syntax,
                     std::optional<std::vector<std::string>>& out) {
  if (node.is_null()) return {};
  if (!node.is_sequence()) return node.error("group_by must be a list of label names");
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const YamlNode& item : node.items()) {
    VAGT_TRY(std::string name, item.as_string());
    if (name != "..." && !is_plausible_name(name, syntax)) {
      return item.error(fmt::format("invalid label name {} in group_by list", quote(name)));
    }
    if (!seen.insert(name).second) {
      return item.error(fmt::format("duplicated label {} in group_by", quote(name)));
    }
    names.push_back(std::move(name));
  }
  if (seen.contains("...") && names.size() > 1) {
    return node.error(
        "cannot have wildcard group_by (`...`) and other other labels at the same time");
  }
  out = std::move(names);
  return {};
}

Status read_route_labels(const YamlNode& node, notify::MatcherSyntax syntax,
                         std::map<std::string, std::string>& out) {
  if (node.is_null()) return {};
  if (!node.is_map()) return node.error("labels must be a map");
  for (const YamlNode::Entry& entry : node.entries()) {
    if (!is_plausible_name(entry.key, syntax)) {
      return entry.value.error(
          fmt::format("invalid label name {} in route labels", quote(entry.key)));
    }
    VAGT_TRY(out[entry.key], entry.value.as_string());
  }
  return {};
}

Status no_zero(const YamlNode& node, const char* key, const std::optional<Duration>& value) {
  if (!value || value->count() != 0) return {};
  return node.find(key)->error(fmt::format("{} cannot be zero", key));
}

}  // namespace

Status read_route(const YamlNode& node, const AlertmanagerContext& context,
                  notify::RouteConfig& out) {
  if (!node.is_map() && !node.is_null()) {
    return node.error(fmt::format("line {}: cannot unmarshal {} into config.plain", node.line(),
                                  node.is_sequence() ? "!!seq" : "!!str"));
  }
  YamlFields fields(node);
  fields.read("receiver", out.receiver).read("continue", out.continue_matching);
  fields.read("group_wait", out.group_wait).read("group_interval", out.group_interval);
  fields.read("repeat_interval", out.repeat_interval);
  fields.read("mute_time_intervals", out.mute_time_intervals);
  fields.read("active_time_intervals", out.active_time_intervals);
  if (const YamlNode* group_by = fields.take("group_by")) {
    fields.fail(read_group_by(*group_by, context.syntax, out.group_by));
  }
  if (const YamlNode* labels = fields.take("labels")) {
    fields.fail(read_route_labels(*labels, context.syntax, out.labels));
  }
  fields.fail(read_match(fields.take("match"), false, out.matchers));
  fields.fail(read_match(fields.take("match_re"), true, out.matchers));
  fields.fail(read_matchers(fields.take("matchers"), context.syntax, out.matchers));
  const YamlNode* children = fields.take("routes");
  VAGT_CHECK_OK(fields.finish("config.plain"));
  VAGT_CHECK_OK(no_zero(node, "group_interval", out.group_interval));
  VAGT_CHECK_OK(no_zero(node, "repeat_interval", out.repeat_interval));
  if (children == nullptr || children->is_null()) return {};
  if (!children->is_sequence()) return children->error("routes must be a list");
  for (const YamlNode& child : children->items()) {
    VAGT_CHECK_OK(read_route(child, context, out.routes.emplace_back()));
  }
  return {};
}

Status read_inhibit_rule(const YamlNode& node, const AlertmanagerContext& context,
                         notify::InhibitRuleConfig& out) {
  YamlFields fields(node);
  fields.read("name", out.name).read("equal", out.equal);
  fields.fail(read_match(fields.take("source_match"), false, out.source_matchers));
  fields.fail(read_match(fields.take("source_match_re"), true, out.source_matchers));
  fields.fail(read_matchers(fields.take("source_matchers"), context.syntax, out.source_matchers));
  fields.fail(read_match(fields.take("target_match"), false, out.target_matchers));
  fields.fail(read_match(fields.take("target_match_re"), true, out.target_matchers));
  fields.fail(read_matchers(fields.take("target_matchers"), context.syntax, out.target_matchers));
  VAGT_CHECK_OK(fields.finish("config.plain"));
  for (const std::string& name : out.equal) {
    if (!notify::is_label_name(name, context.syntax)) {
      return node.find("equal")->error(
          fmt::format("invalid label name {} in equal list", quote(name)));
    }
  }
  return {};
}

}  // namespace vagt::config
