#include "config/alertmanager_config.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "config/alertmanager_sections.h"
#include "config/http_config.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

// Every node below the root names known receivers and intervals; the place is the section's.
Status check_references(const YamlNode& node, const notify::RouteConfig& route,
                        const std::set<std::string>& receivers,
                        const std::set<std::string>& intervals) {
  const auto place = [&](const char* key) -> const YamlNode& {
    const YamlNode* found = node.find(key);
    return found == nullptr ? node : *found;
  };
  if (!route.receiver.empty() && !receivers.contains(route.receiver)) {
    return place("receiver")
        .error(fmt::format("undefined receiver {} used in route", quote(route.receiver)));
  }
  for (const char* key : {"mute_time_intervals", "active_time_intervals"}) {
    const auto& names = key[0] == 'm' ? route.mute_time_intervals : route.active_time_intervals;
    for (const std::string& name : names) {
      if (!intervals.contains(name)) {
        return place(key).error(
            fmt::format("undefined time interval {} used in route", quote(name)));
      }
    }
  }
  const YamlNode* children = node.find("routes");
  for (size_t i = 0; i < route.routes.size(); ++i) {
    VAGT_CHECK_OK(check_references(children->items()[i], route.routes[i], receivers, intervals));
  }
  return {};
}

Status check_root(const YamlNode& node, const notify::RouteConfig& root) {
  if (root.receiver.empty()) return node.error("root route must specify a default receiver");
  if (!root.matchers.empty()) return node.error("root route must not have any matchers");
  if (!root.mute_time_intervals.empty()) {
    return node.error("root route must not have any mute time intervals");
  }
  if (!root.active_time_intervals.empty()) {
    return node.error("root route must not have any active time intervals");
  }
  if (root.continue_matching) return node.error("cannot have continue in root route");
  return {};
}

template <class T, class Read>
Status read_list(const YamlNode* list, Read read, std::vector<T>& out) {
  if (list == nullptr || list->is_null()) return {};
  if (!list->is_sequence()) {
    return list->error(fmt::format("line {}: cannot unmarshal into a list", list->line()));
  }
  for (const YamlNode& item : list->items()) VAGT_CHECK_OK(read(item, out.emplace_back()));
  return {};
}

class Loader {
 public:
  Loader(const YamlNode& root, const std::string& path, const AlertmanagerLoadOptions& options)
      : root_(root), path_(path) {
    context_.base_dir = std::filesystem::path(path).parent_path().string();
    context_.syntax = options.syntax;
    context_.warnings = &config_.warnings;
  }

  Result<notify::Config> run() {
    if (!root_.is_map() && !root_.is_null()) {
      return root_.error(
          root_.is_scalar()
              ? fmt::format("line {}: cannot unmarshal !!str `{}` into config.plain", root_.line(),
                            root_.scalar().substr(0, 10))
              : fmt::format("line {}: cannot unmarshal !!seq into config.plain", root_.line()));
    }
    YamlFields fields(root_);
    VAGT_CHECK_OK(sections(fields));
    VAGT_CHECK_OK(fields.finish("config.plain"));
    VAGT_CHECK_OK(route());
    config_.resolve_timeout = context_.global.resolve_timeout;
    config_.text = masked_alertmanager_yaml(root_);
    return std::move(config_);
  }

 private:
  Status sections(YamlFields& fields) {
    for (const char* key : {"global", "route", "receivers", "inhibit_rules", "mute_time_intervals",
                            "time_intervals", "templates", "tracing", "event_recorder"}) {
      fields.take(key);
    }
    // Misspelt keys first: the complaint about them explains the others.
    VAGT_CHECK_OK(fields.finish("config.plain"));
    if (const YamlNode* global = root_.find("global")) {
      VAGT_CHECK_OK(read_alertmanager_global(*global, context_));
    }
    VAGT_CHECK_OK(templates());
    VAGT_CHECK_OK(read_list<notify::ReceiverConfig>(
        root_.find("receivers"),
        [&](const YamlNode& node, notify::ReceiverConfig& out) { return receiver(node, out); },
        config_.receivers));
    VAGT_CHECK_OK(read_list<notify::InhibitRuleConfig>(
        root_.find("inhibit_rules"),
        [&](const YamlNode& node, notify::InhibitRuleConfig& out) {
          return read_inhibit_rule(node, context_, out);
        },
        config_.inhibit_rules));
    for (const char* key : {"mute_time_intervals", "time_intervals"}) {
      if (const YamlNode* node = root_.find(key)) {
        const std::string_view kind = key[0] == 'm' ? "mute time interval" : "time interval";
        VAGT_CHECK_OK(read_time_intervals(*node, kind, config_.time_intervals));
      }
    }
    for (const char* key : {"tracing", "event_recorder"}) {
      if (const YamlNode* node = root_.find(key)) {
        config_.warnings.push_back(
            fmt::format("{}: {} is accepted but has no effect", node->where(), key));
      }
    }
    return {};
  }

  Status receiver(const YamlNode& node, notify::ReceiverConfig& out) {
    VAGT_CHECK_OK(read_receiver(node, context_, out));
    for (const auto& other : config_.receivers) {
      if (&other != &out && other.name == out.name) {
        return node.error(
            fmt::format("notification config name {} is not unique", quote(out.name)));
      }
    }
    return {};
  }

  Status templates() {
    YamlFields fields(root_);
    fields.read("templates", config_.templates);
    if (!fields.ok()) return root_.find("templates")->error("templates must be a list of files");
    for (std::string& path : config_.templates) path = resolve_path(context_.base_dir, path);
    return {};
  }

  Status route() {
    const YamlNode* node = root_.find("route");
    if (root_.is_null()) return Status::invalid(path_ + ":1:1: no route provided in config");
    if (node == nullptr || node->is_null()) return root_.error("no route provided in config");
    VAGT_CHECK_OK(read_route(*node, context_, config_.route));
    VAGT_CHECK_OK(check_root(*node, config_.route));
    std::set<std::string> receivers, intervals;
    for (const auto& receiver : config_.receivers) receivers.insert(receiver.name);
    for (const auto& interval : config_.time_intervals) intervals.insert(interval.name);
    return check_references(*node, config_.route, receivers, intervals);
  }

  const YamlNode& root_;
  const std::string path_;
  AlertmanagerContext context_;
  notify::Config config_;
};

}  // namespace

Result<notify::Config> parse_alertmanager_config(std::string_view text, const std::string& path,
                                                 const AlertmanagerLoadOptions& options) {
  VAGT_TRY(const YamlNode root, base::parse_yaml(text, path));
  return Loader(root, path, options).run();
}

Result<notify::Config> load_alertmanager_config(const std::string& path,
                                                const AlertmanagerLoadOptions& options) {
  VAGT_TRY(const YamlNode root, base::load_yaml_file(path));
  return Loader(root, path, options).run();
}

}  // namespace vagt::config
