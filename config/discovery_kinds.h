// The *_sd_configs sections, one item of each kind. Inside this folder only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/status.h"
#include "base/yaml.h"
#include "scrape/discovery_config.h"

namespace vagt::config {

// `refresh_interval` of a source that is asked again and again: above zero.
void check_refresh_interval(base::YamlFields& fields, Duration interval);

Result<scrape::DnsDiscoveryConfig> read_dns_discovery(const base::YamlNode& node);
Result<scrape::DockerDiscoveryConfig> read_docker_discovery(const base::YamlNode& node,
                                                            const std::string& base_dir);
Result<scrape::ConsulDiscoveryConfig> read_consul_discovery(const base::YamlNode& node,
                                                            const std::string& base_dir);
Result<scrape::KubernetesDiscoveryConfig> read_kubernetes_discovery(const base::YamlNode& node,
                                                                    const std::string& base_dir);

// [{name: …, values: […]}]
Status read_discovery_filters(const base::YamlNode& node,
                              std::vector<scrape::DiscoveryFilter>& out);

// The kinds of Prometheus 3.14 that are checked but do not run here: "ec2_sd_configs", ….
std::vector<std::string_view> unimplemented_kinds();
// Checks one item of such a kind as Prometheus would.
Status check_unimplemented(std::string_view kind, const base::YamlNode& node,
                           const std::string& base_dir);

}  // namespace vagt::config
