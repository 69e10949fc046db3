// Which sources a job's sections ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape {

struct PlannedSource {
  std::string fingerprint;  // sources of equal fingerprint are one
  std::function<std::unique_ptr<DiscoverySource>()> make;
};
using DiscoveryPlanner = std::function<std::vector<PlannedSource>(const DiscoveryConfig&)>;

// The real ones. `registry` outlives what they make.
DiscoveryPlanner make_discovery_planner(base::Registry& registry, std::string user_agent);

}  // namespace vagt::scrape
