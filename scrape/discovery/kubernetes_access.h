// How to reach a cluster's API: by URL, by a kubeconfig file or as a pod of the cluster.
#pragma once

#include <functional>
#include <string>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape::kubernetes {

struct Access {
  std::string url;  // without a slash at its end
  net::HttpClientConfig http;
  std::string own_namespace;  // "" unless asked for
};

struct AccessOptions {
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  // Reads one environment variable; "" when unset.
  std::function<std::string(const char*)> environment;
};

// Io, InvalidArgument: files that are missing or say nothing of use; the text names them.
Result<Access> find_access(const KubernetesDiscoveryConfig& config, const AccessOptions& options);

}  // namespace vagt::scrape::kubernetes
