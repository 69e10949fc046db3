#include "cli/tool_config.h"

#include <filesystem>
#include <map>

#include "base/yaml.h"

namespace vagt::cli {
namespace {

Status read_file(const std::string& path, std::map<std::string, std::string>& values) {
  VAGT_TRY(const base::YamlNode root, base::load_yaml_file(path));
  if (root.is_null()) return {};
  if (!root.is_map()) return root.error("expected flags as keys, one a line");
  for (const auto& entry : root.entries()) {
    if (!entry.value.is_scalar())
      return entry.value.error("expected a single value for " + entry.key);
    values.emplace(entry.key, entry.value.scalar());
  }
  return {};
}

bool is_true(const std::string& text) { return text == "true" || text == "yes" || text == "1"; }

}  // namespace

std::vector<std::string> tool_config_files(const std::string& home) {
  std::vector<std::string> files;
  if (!home.empty()) {
    const std::string config = home + "/.config/";
    files = {config + "vagt/config.yml", config + "amtool/config.yml",
             config + "prometheus/amtool.yml"};
  }
  for (const char* file :
       {"/etc/vagt/config.yml", "/etc/amtool/config.yml", "/etc/prometheus/amtool.yml"}) {
    files.emplace_back(file);
  }
  return files;
}

Result<GlobalOptions> load_tool_config(const std::vector<std::string>& files) {
  std::map<std::string, std::string> values;
  for (const std::string& file : files) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) VAGT_CHECK_OK(read_file(file, values));
  }
  GlobalOptions options;
  const auto take = [&values](const char* key, std::string& into) {
    if (const auto found = values.find(key); found != values.end()) into = found->second;
  };
  take("alertmanager.url", options.url);
  take("output", options.output);
  take("date.format", options.date_format);
  take("timeout", options.timeout);
  take("http.config.file", options.http_config_file);
  take("author", options.author);
  take("receiver", options.receiver);
  for (const char* key :
       {"comment_required", "require-comment"}) {  // the former is amtool's old word
    if (const auto found = values.find(key); found != values.end()) {
      options.requires_comment = is_true(found->second);
    }
  }
  return options;
}

}  // namespace vagt::cli
