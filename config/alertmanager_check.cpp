// What a configuration that loads will not do as its author means.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "config/alertmanager_config.h"
#include "notify/renderer.h"

namespace vagt::config {
namespace {

void routed_receivers(const notify::RouteConfig& route, std::set<std::string>& out) {
  if (!route.receiver.empty()) out.insert(route.receiver);
  for (const auto& child : route.routes) routed_receivers(child, out);
}

// Repeats come at flushes only: the first one strictly after the repeat interval.
Duration effective_repeat(Duration group_interval, Duration repeat_interval) {
  const auto flushes = (repeat_interval + group_interval - Duration(1)) / group_interval;
  return group_interval * std::max<int64_t>(flushes, 1);
}

void check_repeat(const notify::RouteConfig& route, Duration group_interval,
                  Duration repeat_interval, const std::string& path,
                  std::vector<std::string>& warnings) {
  group_interval = route.group_interval.value_or(group_interval);
  repeat_interval = route.repeat_interval.value_or(repeat_interval);
  const bool own = path.empty() || route.group_interval || route.repeat_interval;
  const Duration effective = effective_repeat(group_interval, repeat_interval);
  if (own && effective != repeat_interval) {
    warnings.push_back(fmt::format(
        "{}: repeat_interval {} is not a multiple of group_interval {}: repeats come every {}",
        path.empty() ? "route" : "route" + path, format_duration(repeat_interval),
        format_duration(group_interval), format_duration(effective)));
  }
  for (size_t i = 0; i < route.routes.size(); ++i) {
    check_repeat(route.routes[i], group_interval, repeat_interval,
                 path + fmt::format(".routes[{}]", i), warnings);
  }
}

void check_templates(const notify::Config& config, std::vector<std::string>& errors) {
  const auto library = notify::TemplateLibrary::load(config.templates);
  if (!library.ok()) {
    errors.push_back(library.error().message());
    return;
  }
  for (const auto& receiver : config.receivers) {
    std::map<std::string, int> position;
    for (const auto& integration : receiver.integrations) {
      const std::string type(notify::integration_name(integration));
      const std::string place =
          fmt::format("receiver {}: {}_configs[{}]", quote(receiver.name), type, position[type]++);
      for (const auto& [field, text] : notify::templated_fields(integration)) {
        if (text.find("{{") == std::string::npos) continue;
        if (Status status = (*library)->set().check(text, field); !status.ok()) {
          errors.push_back(fmt::format("{}: {}: {}", place, field, status.message()));
        }
      }
    }
  }
}

// Whether every source has this label, whatever else it lacks.
bool always_there(const notify::InhibitRuleConfig& rule, const std::string& name) {
  if (name == kAlertName) return true;
  return std::any_of(rule.source_matchers.begin(), rule.source_matchers.end(),
                     [&](const Matcher& m) { return m.name() == name && !m.matches_empty(); });
}

void check_inhibition(const notify::Config& config, AlertmanagerFindings& out) {
  for (size_t i = 0; i < config.inhibit_rules.size(); ++i) {
    const auto& rule = config.inhibit_rules[i];
    const std::string place = rule.name.empty() ? fmt::format("inhibit_rules[{}]", i)
                                                : fmt::format("inhibit rule {}", quote(rule.name));
    if (rule.target_matchers.empty()) {
      out.warnings.push_back(place + ": has no target matchers, so a source mutes every alert");
    }
    // One label that is always there keeps sources and targets together.
    if (std::any_of(rule.equal.begin(), rule.equal.end(),
                    [&](const std::string& name) { return always_there(rule, name); })) {
      continue;
    }
    for (const std::string& name : rule.equal) {
      out.hints.push_back(
          fmt::format("{}: a source without the label {} mutes every target that lacks it too",
                      place, quote(name)));
    }
  }
}

}  // namespace

AlertmanagerFindings check_alertmanager_config(const notify::Config& config) {
  AlertmanagerFindings out;
  out.warnings = config.warnings;
  check_templates(config, out.errors);
  std::set<std::string> routed;
  routed_receivers(config.route, routed);
  bool anybody = false;
  for (const auto& receiver : config.receivers) {
    const bool used = routed.contains(receiver.name);
    if (!used)
      out.warnings.push_back(
          fmt::format("receiver {}: no route leads to it", quote(receiver.name)));
    anybody = anybody || (used && !receiver.integrations.empty());
  }
  if (!anybody)
    out.warnings.emplace_back(
        "nobody will be paged: no receiver that a route leads to has an integration");
  const notify::RouteOptions defaults;
  check_repeat(config.route, defaults.group_interval, defaults.repeat_interval, "", out.warnings);
  check_inhibition(config, out);
  return out;
}

}  // namespace vagt::config
