// From Kubernetes' objects to targets, with Prometheus's labels for each role.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scrape/discovery/kubernetes_objects.h"

namespace vagt::scrape::kubernetes {

// Everything known of a cluster, kept by the watches. Keys are "namespace/name", "/name" for what
// belongs to no namespace.
using Store = std::map<std::string, ObjectPtr>;
using Cluster = std::map<Resource, Store>;

Resource resource_of(KubernetesRole role);

// One group for each object of the role.
TargetGroups targets_of(const KubernetesDiscoveryConfig& config, const Cluster& cluster);

}  // namespace vagt::scrape::kubernetes
