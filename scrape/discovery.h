// Where targets come from: groups written in the configuration, files and URLs that list them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/http_client.h"
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

// One http_sd_configs section. One thread at a time.
class HttpDiscovery {
 public:
  explicit HttpDiscovery(HttpDiscoveryConfig config);
  net::HttpRequest request() const;
  net::HttpClient::Profile profile() const { return profile_; }
  Duration refresh_interval() const { return config_.refresh_interval; }
  // An answer to request(). A bad one keeps the last targets. True: groups or error changed.
  bool take(const Result<net::HttpResponse>& answer);
  // What an answer lists.
  Result<std::vector<TargetGroup>> read(const Result<net::HttpResponse>& answer) const;
  const std::vector<TargetGroup>& groups() const { return groups_; }
  const std::string& error() const { return error_; }  // "" when the last answer was good

 private:
  const HttpDiscoveryConfig config_;
  const net::HttpClient::Profile profile_;
  std::vector<TargetGroup> groups_;
  std::string error_;
};

}  // namespace vagt::scrape
