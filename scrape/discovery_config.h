// The ways a job finds its targets, as the configuration has them. config/ fills these structs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"

namespace vagt::scrape {

// Targets that came from one place, with labels they share.
struct TargetGroup {
  std::vector<std::map<std::string, std::string>> targets;  // each with at least __address__
  std::map<std::string, std::string> labels;
  std::string source;  // unique within the job: "static/0", "/etc/prometheus/targets/gpu.json:1"
  friend bool operator==(const TargetGroup&, const TargetGroup&) = default;
};

struct FileDiscoveryConfig {
  std::vector<std::string> files;                       // globs in the last path element, absolute
  Duration refresh_interval = std::chrono::minutes(5);  // no effect: files are watched
  friend bool operator==(const FileDiscoveryConfig&, const FileDiscoveryConfig&) = default;
};

// A URL that answers a JSON list of target groups.
struct HttpDiscoveryConfig {
  std::string url;
  Duration refresh_interval = std::chrono::minutes(1);
  net::HttpClientConfig http;
  std::string fingerprint;  // the section as text, as ScrapeConfig has it
  friend bool operator==(const HttpDiscoveryConfig& a, const HttpDiscoveryConfig& b) {
    return a.url == b.url && a.fingerprint == b.fingerprint;
  }
};

struct DnsDiscoveryConfig {
  std::vector<std::string> names;
  std::string type = "SRV";  // SRV, A, AAAA, MX or NS; upper case
  uint16_t port = 0;         // of all but SRV, whose records name theirs
  Duration refresh_interval = std::chrono::seconds(30);
};

// One name and the values it may have, as Docker's API filters its lists.
struct DiscoveryFilter {
  std::string name;
  std::vector<std::string> values;
};

struct DockerDiscoveryConfig {
  std::string host;                                // "unix:///var/run/docker.sock", "tcp://h:2375"
  uint16_t port = 80;                              // of containers that expose none
  std::string host_networking_host = "localhost";  // address of containers in the host's network
  bool match_first_network = true;  // of a container in several networks, only the first by name
  std::vector<DiscoveryFilter> filters;
  Duration refresh_interval = std::chrono::minutes(1);
  net::HttpClientConfig http;
};

struct ConsulDiscoveryConfig {
  std::string server = "localhost:8500", path_prefix, scheme = "http";
  Secret token;
  std::string datacenter, consul_namespace, partition;
  std::vector<std::string> services, tags;  // none: all
  std::map<std::string, std::string> node_meta;
  std::string tag_separator = ",";
  std::string filter;         // Consul's filter expression for the list of services
  std::string health_filter;  // and for the instances of each
  bool allow_stale = true;
  Duration refresh_interval = std::chrono::seconds(30);  // at least this between two answers
  net::HttpClientConfig http;
};

enum class KubernetesRole : uint8_t { Node, Service, Pod, Endpoints, EndpointSlice, Ingress };

struct KubernetesDiscoveryConfig {
  // Which objects of one role to ask for, in the API's own selector syntax.
  struct Selector {
    KubernetesRole role = KubernetesRole::Pod;
    std::string label, field;
  };
  std::string api_server;       // URL; "": the pod's service account, or kubeconfig_file
  std::string kubeconfig_file;  // absolute
  KubernetesRole role = KubernetesRole::Pod;
  bool own_namespace = false;
  std::vector<std::string> namespaces;  // none: all
  std::vector<Selector> selectors;
  // What else to look up for labels: of the node and namespace, and the names of what made a pod.
  bool attach_node = false, attach_namespace = false;
  bool attach_deployment = false, attach_job = false, attach_cronjob = false;
  net::HttpClientConfig http;
};

// A section that runs as a source of its own. Sections of equal kind and text share one source.
template <class Config>
struct DiscoverySection {
  Config config;
  std::string fingerprint;  // kind and section as text
  friend bool operator==(const DiscoverySection& a, const DiscoverySection& b) {
    return a.fingerprint == b.fingerprint;
  }
};

// Every way a job finds its targets.
struct DiscoveryConfig {
  std::vector<TargetGroup> static_groups;
  std::vector<FileDiscoveryConfig> files;
  std::vector<HttpDiscoveryConfig> http;
  std::vector<DiscoverySection<DnsDiscoveryConfig>> dns;
  std::vector<DiscoverySection<DockerDiscoveryConfig>> docker;
  std::vector<DiscoverySection<ConsulDiscoveryConfig>> consul;
  std::vector<DiscoverySection<KubernetesDiscoveryConfig>> kubernetes;
  // Kinds accepted but not run, as "ec2_sd_configs": shown as an error of the pool.
  std::vector<std::string> unsupported;
  friend bool operator==(const DiscoveryConfig&, const DiscoveryConfig&) = default;
};

}  // namespace vagt::scrape
