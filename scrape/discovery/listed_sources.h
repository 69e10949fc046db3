// Target files and URLs that list targets, as sources that run by themselves: for those whose
// targets no scrape manager keeps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape {

// Looks at the files when their folders change, and every `poll` besides.
std::unique_ptr<DiscoverySource> make_file_discovery(std::vector<FileDiscoveryConfig> configs,
                                                     Duration poll = std::chrono::seconds(5));
std::unique_ptr<DiscoverySource> make_http_discovery(HttpDiscoveryConfig config,
                                                     std::string user_agent);

}  // namespace vagt::scrape
