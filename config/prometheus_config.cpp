#include "config/prometheus_config.h"

#include <fmt/core.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/yaml.h"
#include "config/http_config.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Globs of `key`, checked and resolved.
Status read_globs(YamlFields& fields, std::string_view key, std::string_view what,
                  const std::string& base_dir, std::vector<std::string>& out) {
  const YamlNode* node = fields.take(key);
  if (node == nullptr) return {};
  fields.read(key, out);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!is_glob_path(out[i])) {
      return node->items()[i].error(fmt::format("invalid {} file path {}", what, quote(out[i])));
    }
    out[i] = resolve_path(base_dir, out[i]);
  }
  return {};
}

// Jobs that stand in files of their own.
Status read_scrape_config_file(const std::string& path, const ReadContext& outer,
                               std::vector<scrape::ScrapeConfig>& out) {
  VAGT_TRY(const YamlNode root, base::load_yaml_file(path));
  ReadContext context = outer;
  context.base_dir = folder_of(path);
  YamlFields fields(root);
  if (const YamlNode* jobs = fields.take("scrape_configs"))
    fields.fail(read_scrape_configs(*jobs, context, out));
  return fields.finish("config.ScrapeConfigs");
}

Status read_runtime(const YamlNode& node, const ReadContext& context) {
  YamlFields fields(node);
  int64_t gogc = 75;
  fields.read("gogc", gogc);
  VAGT_CHECK_OK(fields.finish("config.RuntimeConfig"));
  if (node.find("gogc") != nullptr)
    context.notice(node, "runtime.gogc is accepted and has no effect: this is no Go");
  return {};
}

// A section that stands there twice: the reader knows of maps, Prometheus of its own types.
Status in_prometheus_words(const Status& error, const std::string& path) {
  constexpr std::string_view kTwice = " already set in map";
  const std::string& text = error.message();
  const size_t key = text.find("key \"");
  const bool is_section =
      text.ends_with(kTwice) && text.starts_with(path) &&
      std::string_view(text).substr(path.size(), key - path.size()).find(":1: line") !=
          std::string_view::npos;
  if (!is_section) return error;
  const std::string name = text.substr(key + 5, text.size() - kTwice.size() - key - 6);
  return Status(error.code(), text.substr(0, key) +
                                  fmt::format("field {} already set in type config.plain", name));
}

Status refuse_in_agent_mode(const YamlNode& root) {
  for (const char* key : {"alerting", "rule_files", "remote_read"}) {
    if (const YamlNode* at = root.find(key)) {
      return at->error(fmt::format("field {} is not allowed in agent mode", key));
    }
  }
  return {};
}

Status read_all(const YamlNode& root, ReadContext& context, PrometheusConfig& out) {
  YamlFields fields(root);
  const auto section = [&fields](std::string_view key, auto read) {
    if (const YamlNode* node = fields.take(key); node != nullptr && fields.ok())
      fields.fail(read(*node));
  };
  section("global", [&](const YamlNode& n) { return read_global(n, context, out.global); });
  section("runtime", [&](const YamlNode& n) { return read_runtime(n, context); });
  fields.fail(read_globs(fields, "rule_files", "rule", context.base_dir, out.rule_files));
  fields.fail(read_globs(fields, "scrape_config_files", "scrape config", context.base_dir,
                         out.scrape_config_files));
  section("scrape_configs",
          [&](const YamlNode& n) { return read_scrape_configs(n, context, out.scrape_configs); });
  section("alerting", [&](const YamlNode& n) { return read_alerting(n, context, out.alerting); });
  section("storage", [&](const YamlNode& n) { return read_storage(n, out.storage); });
  section("remote_write",
          [&](const YamlNode& n) { return read_remote_write(n, context, out.remote_write); });
  section("remote_read",
          [&](const YamlNode& n) { return read_remote_read(n, context, out.remote_read); });
  section("otlp",
          [&](const YamlNode& n) { return read_otlp(n, context.defaults.name_scheme, out.otlp); });
  section("tracing", [&](const YamlNode& n) { return read_tracing(n, context); });
  fields.read("notify_file", out.notify_file);
  out.notify_file = resolve_path(context.base_dir, out.notify_file);
  VAGT_CHECK_OK(fields.finish("config.plain"));
  // One glob at a time: a file two of them name is read twice, and its jobs are found to be there
  // already.
  for (const std::string& pattern : out.scrape_config_files) {
    for (const std::string& path : expand_globs({pattern})) {
      VAGT_CHECK_OK(read_scrape_config_file(path, context, out.scrape_configs));
    }
  }
  return {};
}

}  // namespace

void ReadContext::notice(const YamlNode& node, std::string_view text) const {
  if (notices != nullptr) notices->push_back(fmt::format("{}: {}", node.where(), text));
}

bool is_glob_path(std::string_view path) {
  const size_t star = path.find('*');
  return star == std::string_view::npos || (path.find('/', star) == std::string_view::npos &&
                                            path.find('*', star + 1) == std::string_view::npos);
}

Result<PrometheusConfig> parse_prometheus_config(std::string_view text, const std::string& path,
                                                 const LoadOptions& options) {
  auto parsed = base::parse_yaml(text, path);
  if (!parsed) return in_prometheus_words(parsed.error(), path);
  const YamlNode root = std::move(*parsed);
  if (!root.is_map() && !root.is_null()) return root.error("expected a map of sections");
  PrometheusConfig config;
  ReadContext context;
  context.base_dir = folder_of(path);
  context.notices = &config.notices;
  if (options.agent_mode) VAGT_CHECK_OK(refuse_in_agent_mode(root));
  VAGT_CHECK_OK(read_all(root, context, config));
  config.text = masked_yaml(root);
  return config;
}

Result<PrometheusConfig> load_prometheus_config(const std::string& path,
                                                const LoadOptions& options) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Status::io(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status::io(fmt::format("{}: is a directory", path));
  const size_t limit = base::YamlLimits().max_bytes + 1;  // the reader refuses what is longer
  std::string text(limit, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(limit));
  text.resize(static_cast<size_t>(stream.gcount()));
  return parse_prometheus_config(text, path, options);
}

std::vector<std::string> expand_globs(const std::vector<std::string>& globs) {
  std::vector<std::string> found;
  for (const std::string& pattern : globs) {
    glob_t matches{};
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
      found.insert(found.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace vagt::config
