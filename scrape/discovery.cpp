#include "scrape/discovery.h"

#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/yaml.h"

namespace vagt::scrape {
namespace {

constexpr uint64_t kMaxAnswerBytes = 16u << 20;

Result<TargetGroup> read_group(const base::YamlNode& node) {
  if (!node.is_map()) return node.error("expected a target group: {targets: [...], labels: {...}}");
  base::YamlFields fields(node);
  std::vector<std::string> addresses;
  TargetGroup group;
  fields.read("targets", addresses).read("labels", group.labels);
  VAGT_CHECK_OK(
      fields.finish("struct { Targets []string \"json:\\\"targets\\\"\"; Labels model.LabelSet }"));
  for (std::string& address : addresses) {
    group.targets.push_back({{"__address__", std::move(address)}});
  }
  return group;
}

// `meta` names the label that says where the groups came from.
Result<std::vector<TargetGroup>> read_groups(const base::YamlNode& root, const std::string& source,
                                             const std::string& meta) {
  std::vector<TargetGroup> groups;
  if (root.is_null()) return groups;
  if (!root.is_sequence()) return root.error("expected a list of target groups");
  for (const base::YamlNode& node : root.items()) {
    VAGT_TRY(TargetGroup group, read_group(node));
    group.labels[meta] = source;
    group.source = fmt::format("{}:{}", source, groups.size());
    groups.push_back(std::move(group));
  }
  return groups;
}

// "" when it is not there.
std::string signature_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}:{}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

}  // namespace

Result<std::vector<TargetGroup>> read_target_file(const std::string& path) {
  VAGT_TRY(const base::YamlNode root, base::load_yaml_file(path));
  return read_groups(root, path, "__meta_filepath");
}

FileDiscovery::FileDiscovery(std::vector<FileDiscoveryConfig> configs)
    : configs_(std::move(configs)) {}

std::vector<std::string> FileDiscovery::paths() const {
  std::vector<std::string> found;
  for (const FileDiscoveryConfig& config : configs_) {
    for (const std::string& pattern : config.files) {
      glob_t matches{};
      if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
        found.insert(found.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
      }
      ::globfree(&matches);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool FileDiscovery::poll() {
  bool is_changed = false;
  const std::vector<std::string> present = paths();
  is_changed = std::erase_if(files_, [&present](const auto& file) {
                 return !std::binary_search(present.begin(), present.end(), file.first);
               }) != 0;
  for (const std::string& path : present) {
    std::string signature = signature_of(path);
    File& file = files_[path];
    if (signature == file.signature) continue;
    file.signature = std::move(signature);
    is_changed = true;
    auto groups = read_target_file(path);
    file.error = groups ? "" : groups.error().message();
    if (groups) file.groups = std::move(*groups);
  }
  if (!is_changed) return false;
  groups_.clear(), errors_.clear();
  for (const auto& [path, file] : files_) {
    groups_.insert(groups_.end(), file.groups.begin(), file.groups.end());
    if (!file.error.empty()) errors_.push_back(file.error);
  }
  return true;
}

HttpDiscovery::HttpDiscovery(HttpDiscoveryConfig config)
    : config_(std::move(config)),
      profile_(std::make_shared<const net::HttpClientConfig>(config_.http)) {}

net::HttpRequest HttpDiscovery::request() const {
  net::HttpRequest request;
  request.url = Secret(config_.url);
  request.headers = {{"Accept", "application/json"},
                     {"X-Prometheus-Refresh-Interval-Seconds",
                      fmt::format("{}", to_seconds(config_.refresh_interval))}};
  request.timeout = std::min<Duration>(config_.refresh_interval, std::chrono::minutes(1));
  request.max_body_bytes = kMaxAnswerBytes;
  return request;
}

Result<std::vector<TargetGroup>> HttpDiscovery::read(
    const Result<net::HttpResponse>& answer) const {
  if (!answer) return answer.error();
  if (answer->status != 200) {
    return Status(Code::Unavailable, fmt::format("server returned HTTP status {}", answer->status));
  }
  const std::string_view type = answer->header("Content-Type");
  if (!type.starts_with("application/json")) {
    return Status::invalid(fmt::format("unsupported content type {}", quote(type)));
  }
  VAGT_TRY(const std::string body,
           net::decompress(answer->body, answer->header("Content-Encoding"), kMaxAnswerBytes));
  // JSON is YAML's subset; the reader's errors name line and column.
  VAGT_TRY(const base::YamlNode root, base::parse_yaml(body, "answer"));
  return read_groups(root, config_.url, "__meta_url");
}

bool HttpDiscovery::take(const Result<net::HttpResponse>& answer) {
  auto groups = read(answer);
  std::string error = groups ? "" : fmt::format("http_sd_configs: {}", groups.error().message());
  const bool is_changed = error != error_ || (groups && *groups != groups_);
  error_ = std::move(error);
  if (groups) groups_ = std::move(*groups);
  return is_changed;
}

}  // namespace vagt::scrape
