// kubernetes_sd_configs: a cluster's objects, listed once and watched from there on.
#pragma once

#include <memory>

#include "scrape/discovery/kubernetes_access.h"

namespace vagt::scrape {

struct KubernetesDiscoveryOptions {
  kubernetes::AccessOptions access;
  std::string user_agent = "vagt";
  size_t page_size = 500;                         // objects in one page of a list
  Duration watch_time = std::chrono::minutes(5);  // the server ends a watch after that
  Duration grace = std::chrono::seconds(30);      // and is given up this much later
  Duration list_timeout = std::chrono::minutes(1);
  Duration backoff = std::chrono::seconds(1);  // after a failure; doubles
  Duration longest_backoff = std::chrono::seconds(30);
  Duration publish_pause = std::chrono::seconds(1);  // at least this between two publications
};

// `registry` outlives it.
std::unique_ptr<DiscoverySource> make_kubernetes_discovery(KubernetesDiscoveryConfig config,
                                                           KubernetesDiscoveryOptions options,
                                                           base::Registry& registry);

}  // namespace vagt::scrape
