#include "scrape/discovery.h"

#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/yaml.h"

namespace vagt::scrape {
namespace {

Result<TargetGroup> read_group(const base::YamlNode& node, const std::string& path, size_t index) {
  if (!node.is_map()) return node.error("expected a target group: {targets: [...], labels: {...}}");
  base::YamlFields fields(node);
  std::vector<std::string> addresses;
  TargetGroup group;
  fields.read("targets", addresses).read("labels", group.labels);
  VAGT_CHECK_OK(
      fields.finish("struct { Targets []string \"json:\\\"targets\\\"\"; Labels model.LabelSet }"));
  for (std::string& address : addresses)
    group.targets.push_back({{"__address__", std::move(address)}});
  group.labels["__meta_filepath"] = path;
  group.source = fmt::format("{}:{}", path, index);
  return group;
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
  std::vector<TargetGroup> groups;
  if (root.is_null()) return groups;
  if (!root.is_sequence()) return root.error("expected a list of target groups");
  for (const base::YamlNode& node : root.items()) {
    VAGT_TRY(TargetGroup group, read_group(node, path, groups.size()));
    groups.push_back(std::move(group));
  }
  return groups;
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

}  // namespace vagt::scrape
