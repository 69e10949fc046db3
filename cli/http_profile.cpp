#include "cli/http_profile.h"

#include <filesystem>

#include "base/yaml.h"
#include "config/http_config.h"

namespace vagt::cli {
using net::HttpClientConfig;

Result<std::shared_ptr<const HttpClientConfig>> load_http_profile(const std::string& path) {
  auto profile = std::make_shared<HttpClientConfig>();
  if (path.empty()) return std::shared_ptr<const HttpClientConfig>(std::move(profile));
  VAGT_TRY(const base::YamlNode root, base::load_yaml_file(path));
  base::YamlFields fields(root);
  config::read_http_config(fields, std::filesystem::path(path).parent_path().string(), *profile);
  VAGT_CHECK_OK(fields.finish("http config"));
  return std::shared_ptr<const HttpClientConfig>(std::move(profile));
}

std::string base_url(const std::string& text) {
  std::string url = text.find("://") == std::string::npos ? "http://" + text : text;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string shown_url(const std::string& text) {
  std::string url = base_url(text);
  const size_t host = url.find("://") + 3;
  const size_t at = url.substr(0, url.find('/', host)).rfind('@');
  if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
  return url;
}

}  // namespace vagt::cli
