// Where targets come from: groups written in the configuration, and files that list them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "scrape/scrape_config.h"

namespace vagt::scrape {

// One file of JSON or YAML: a list of {targets: [...], labels: {...}}. Each group gets
// __meta_filepath.
Result<std::vector<TargetGroup>> read_target_file(const std::string& path);

// The file discovery of one job. One thread at a time.
class FileDiscovery {
 public:
  explicit FileDiscovery(std::vector<FileDiscoveryConfig> configs);
  // Looks at the files; reads those that changed. A file that cannot be read keeps its last
  // targets, one that is gone loses them. True: the groups changed.
  bool poll();
  const std::vector<TargetGroup>& groups() const { return groups_; }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  struct File {
    std::string signature;  // inode, size, time of change
    std::vector<TargetGroup> groups;
    std::string error;
  };
  std::vector<std::string> paths() const;

  const std::vector<FileDiscoveryConfig> configs_;
  std::map<std::string, File> files_;
  std::vector<TargetGroup> groups_;
  std::vector<std::string> errors_;
};

}  // namespace vagt::scrape
