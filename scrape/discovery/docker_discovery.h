// docker_sd_configs: the containers of a Docker engine, over its API on a Unix socket or TCP.
#pragma once

#include <memory>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape {

std::unique_ptr<DiscoverySource> make_docker_discovery(DockerDiscoveryConfig config,
                                                       std::string user_agent);

// The targets of the API's answers to /containers/json and /networks. Corruption: no such answers.
Result<TargetGroups> docker_targets(const DockerDiscoveryConfig& config,
                                    std::string_view containers, std::string_view networks);

}  // namespace vagt::scrape
