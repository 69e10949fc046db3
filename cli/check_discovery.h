// vagtctl check service-discovery: what a job would find, and what relabelling makes of it.
#pragma once

#include <string>

#include "cli/context.h"

namespace vagt::cli {

struct CheckDiscovery {
  std::string file, job;
  std::string timeout = "30s";
};
// Prints what promtool prints: a JSON list of {discoveredLabels, labels, error}. Ends as soon as
// every source has answered, at the latest after the timeout.
int check_discovery(Context& context, const CheckDiscovery& check);

}  // namespace vagt::cli
