#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "config/discovery_kinds.h"
#include "config/http_config.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

Status check_label(const YamlNode& node, std::string_view name, std::string_view value) {
  if (!is_utf8_name(name))
    return node.error(fmt::format("{} is not a valid label name", quote(name)));
  if (!is_valid_utf8(value))
    return node.error(fmt::format("{} is not a valid label value", quote(value)));
  return {};
}

Result<scrape::TargetGroup> read_static_group(const YamlNode& node, size_t index) {
  if (node.is_null()) return node.error("empty or null section in static_configs");
  scrape::TargetGroup group;
  YamlFields fields(node);
  std::vector<std::string> addresses;
  fields.read("targets", addresses).read("labels", group.labels);
  VAGT_CHECK_OK(
      fields.finish("struct { Targets []string \"yaml:\\\"targets\\\"\"; Labels model.LabelSet }"));
  for (std::string& address : addresses) {
    group.targets.push_back({{"__address__", std::move(address)}});
  }
  for (const auto& [name, value] : group.labels) VAGT_CHECK_OK(check_label(node, name, value));
  group.source = fmt::format("static_configs/{}", index);
  return group;
}

bool is_target_file_path(std::string_view path) {
  for (const std::string_view ending : {".json", ".yml", ".yaml", ".JSON", ".YML", ".YAML"}) {
    if (path.ends_with(ending)) return is_glob_path(path);
  }
  return false;
}

Result<scrape::FileDiscoveryConfig> read_file_discovery(const YamlNode& node,
                                                        const std::string& base_dir) {
  scrape::FileDiscoveryConfig config;
  YamlFields fields(node);
  fields.read("files", config.files).read("refresh_interval", config.refresh_interval);
  VAGT_CHECK_OK(fields.finish("file.plain"));
  if (config.files.empty()) {
    return node.error("file service discovery config must contain at least one path name");
  }
  for (std::string& file : config.files) {
    if (!is_target_file_path(file)) {
      return node.find("files")->error(
          fmt::format("path name {} is not valid for file discovery", quote(file)));
    }
    file = resolve_path(base_dir, file);
  }
  return config;
}

Result<scrape::HttpDiscoveryConfig> read_http_discovery(const YamlNode& node,
                                                        const std::string& base_dir) {
  if (node.is_null()) return node.error("empty or null section in http_sd_configs");
  scrape::HttpDiscoveryConfig config;
  YamlFields fields(node);
  fields.read("url", config.url).read("refresh_interval", config.refresh_interval);
  check_refresh_interval(fields, config.refresh_interval);
  read_http_config(fields, base_dir, config.http);
  VAGT_CHECK_OK(fields.finish("http.plain"));
  if (config.url.empty()) return node.error("URL is missing");
  const YamlNode& at = *node.find("url");
  const bool has_scheme = config.url.starts_with("http://") || config.url.starts_with("https://");
  if (!has_scheme) return at.error("URL scheme must be 'http' or 'https'");
  const std::string_view behind = std::string_view(config.url).substr(config.url.find("//") + 2);
  if (behind.empty() || behind.front() == '/' || behind.front() == ':')
    return at.error("host is missing in URL");
  config.fingerprint = canonical_text(node) + base_dir;
  return config;
}

template <class Each>
Status each_of(YamlFields& fields, std::string_view key, Each each) {
  const YamlNode* node = fields.take(key);
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_sequence()) return node->error(fmt::format("{}: expected a list", key));
  size_t index = 0;
  for (const YamlNode& item : node->items()) VAGT_CHECK_OK(each(item, index++));
  return {};
}

// Items of a kind that runs as a source of its own.
template <class Config, class Read>
Status read_sources(YamlFields& fields, std::string_view key, const std::string& base_dir,
                    Read read, std::vector<scrape::DiscoverySection<Config>>& out) {
  return each_of(fields, key, [&](const YamlNode& item, size_t) -> Status {
    if (item.is_null()) return item.error(fmt::format("empty or null section in {}", key));
    VAGT_TRY(Config config, read(item));
    out.push_back({std::move(config), fmt::format("{}:{}{}", key, canonical_text(item), base_dir)});
    return {};
  });
}

Status read_unimplemented(YamlFields& fields, const ReadContext& context, std::string_view key,
                          scrape::DiscoveryConfig& out) {
  VAGT_CHECK_OK(each_of(fields, key, [&](const YamlNode& item, size_t) -> Status {
    if (item.is_null()) return item.error(fmt::format("empty or null section in {}", key));
    if (!item.is_map()) return item.error(fmt::format("{}: expected a map", key));
    return check_unimplemented(key, item, context.base_dir);
  }));
  const YamlNode* node = fields.take(key);
  if (node == nullptr || node->items().empty()) return {};
  out.unsupported.emplace_back(key);
  context.notice(
      *node,
      fmt::format(
          "{} is accepted, but this kind of discovery is not implemented: it finds no targets",
          key));
  return {};
}

}  // namespace

Status check_static_addresses(const YamlNode& section) {
  const YamlNode* groups = section.find("static_configs");
  if (groups == nullptr || !groups->is_sequence()) return {};
  for (const YamlNode& group : groups->items()) {
    const YamlNode* targets = group.find("targets");
    if (targets == nullptr || !targets->is_sequence()) continue;
    for (const YamlNode& target : targets->items()) {
      const std::string_view address = target.scalar();
      if (address.find('/') != std::string_view::npos)
        return target.error(fmt::format("{} is not a valid hostname", quote(address)));
    }
  }
  return {};
}

Status read_discovery(YamlFields& fields, const ReadContext& context,
                      scrape::DiscoveryConfig& out) {
  VAGT_CHECK_OK(
      each_of(fields, "static_configs", [&](const YamlNode& item, size_t index) -> Status {
        VAGT_TRY(scrape::TargetGroup group, read_static_group(item, index));
        out.static_groups.push_back(std::move(group));
        return {};
      }));
  VAGT_CHECK_OK(each_of(fields, "file_sd_configs", [&](const YamlNode& item, size_t) -> Status {
    if (item.is_null()) return item.error("empty or null section in file_sd_configs");
    VAGT_TRY(scrape::FileDiscoveryConfig config, read_file_discovery(item, context.base_dir));
    out.files.push_back(std::move(config));
    return {};
  }));
  VAGT_CHECK_OK(each_of(fields, "http_sd_configs", [&](const YamlNode& item, size_t) -> Status {
    VAGT_TRY(scrape::HttpDiscoveryConfig config, read_http_discovery(item, context.base_dir));
    out.http.push_back(std::move(config));
    return {};
  }));
  const std::string& base_dir = context.base_dir;
  VAGT_CHECK_OK(read_sources(fields, "dns_sd_configs", base_dir, read_dns_discovery, out.dns));
  VAGT_CHECK_OK(read_sources(
      fields, "docker_sd_configs", base_dir,
      [&](const YamlNode& item) { return read_docker_discovery(item, base_dir); }, out.docker));
  VAGT_CHECK_OK(read_sources(
      fields, "consul_sd_configs", base_dir,
      [&](const YamlNode& item) { return read_consul_discovery(item, base_dir); }, out.consul));
  VAGT_CHECK_OK(read_sources(
      fields, "kubernetes_sd_configs", base_dir,
      [&](const YamlNode& item) { return read_kubernetes_discovery(item, base_dir); },
      out.kubernetes));
  for (const std::string_view key : unimplemented_kinds())
    VAGT_CHECK_OK(read_unimplemented(fields, context, key, out));
  return {};
}

}  // namespace vagt::config
