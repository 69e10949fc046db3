// consul_sd_configs: Consul's catalog and health endpoints, followed by blocking queries.
#pragma once

#include <memory>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape {

struct ConsulDiscoveryOptions {
  Duration wait = std::chrono::minutes(2);    // how long Consul may hold an answer back
  Duration retry = std::chrono::seconds(15);  // after a failure
  std::string user_agent = "vagt";
};

// `registry` outlives it.
std::unique_ptr<DiscoverySource> make_consul_discovery(ConsulDiscoveryConfig config,
                                                       ConsulDiscoveryOptions options,
                                                       base::Registry& registry);

// The instances of one service, from an answer to /v1/health/service/NAME. Corruption: no such
// answer.
Result<TargetGroup> consul_targets(const ConsulDiscoveryConfig& config,
                                   const std::string& datacenter, const std::string& service,
                                   std::string_view answer);

}  // namespace vagt::scrape
