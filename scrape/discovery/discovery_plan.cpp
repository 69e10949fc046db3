#include "scrape/discovery/discovery_plan.h"

#include <cstdlib>

#include "scrape/discovery/consul_discovery.h"
#include "scrape/discovery/dns_discovery.h"
#include "scrape/discovery/docker_discovery.h"
#include "scrape/discovery/kubernetes_discovery.h"

namespace vagt::scrape {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <class Config, class Make>
void plan(const std::vector<DiscoverySection<Config>>& sections, Make make,
          std::vector<PlannedSource>& out) {
  for (const auto& section : sections) {
    out.push_back({section.fingerprint, [config = section.config, make] { return make(config); }});
  }
}

}  // namespace

DiscoveryPlanner make_discovery_planner(base::Registry& registry, std::string user_agent) {
  return [&registry, user_agent = std::move(user_agent)](const DiscoveryConfig& config) {
    std::vector<PlannedSource> out;
    const auto dns = [&registry](const DnsDiscoveryConfig& section) {
      return make_dns_discovery(section, {}, registry);
    };
    const auto docker = [user_agent](const DockerDiscoveryConfig& section) {
      return make_docker_discovery(section, user_agent);
    };
    const auto consul = [&registry, user_agent](const ConsulDiscoveryConfig& section) {
      ConsulDiscoveryOptions options;
      options.user_agent = user_agent;
      return make_consul_discovery(section, std::move(options), registry);
    };
    const auto kubernetes = [&registry, user_agent](const KubernetesDiscoveryConfig& section) {
      KubernetesDiscoveryOptions options;
      options.user_agent = user_agent;
      options.access.environment = environment;
      return make_kubernetes_discovery(section, std::move(options), registry);
    };
    plan(config.dns, dns, out);
    plan(config.docker, docker, out);
    plan(config.consul, consul, out);
    plan(config.kubernetes, kubernetes, out);
    return out;
  };
}

}  // namespace vagt::scrape
