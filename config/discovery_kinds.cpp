// The kinds of discovery that run as sources of their own: DNS, Docker, Consul and Kubernetes.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/discovery_kinds.h"
#include "config/http_config.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;
using scrape::KubernetesDiscoveryConfig;
using scrape::KubernetesRole;

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

void read_port(YamlFields& fields, const YamlNode& node, uint16_t& out) {
  int64_t port = out;
  fields.read("port", port);
  if (port < 0 || port > 65535) {
    fields.fail(
        node.find("port")->error(fmt::format("port {} is not in the range 0 to 65535", port)));
    return;
  }
  out = static_cast<uint16_t>(port);
}

constexpr std::pair<std::string_view, KubernetesRole> kRoles[] = {
    {"pod", KubernetesRole::Pod},
    {"service", KubernetesRole::Service},
    {"endpoints", KubernetesRole::Endpoints},
    {"endpointslice", KubernetesRole::EndpointSlice},
    {"node", KubernetesRole::Node},
    {"ingress", KubernetesRole::Ingress}};

std::string_view role_name(KubernetesRole role) {
  for (const auto& [name, candidate] : kRoles) {
    if (candidate == role) return name;
  }
  return "";
}

Result<KubernetesRole> parse_role(const YamlNode& node) {
  for (const auto& [name, role] : kRoles) {
    if (node.scalar() == name) return role;
  }
  return node.error(fmt::format("unknown Kubernetes SD role {}", quote(node.scalar())));
}

// The roles that selectors of a section with this role may have.
std::vector<KubernetesRole> selectable(const KubernetesDiscoveryConfig& config) {
  using enum KubernetesRole;
  switch (config.role) {
    case Endpoints:
      return {Pod, Service, Endpoints};
    case EndpointSlice:
      return {Pod, Service, EndpointSlice};
    case Pod:
      return config.attach_node ? std::vector{Pod, Node} : std::vector{Pod};
    case Node:
    case Service:
    case Ingress:
      break;
  }
  return {config.role};
}

Status read_selectors(const YamlNode& list, KubernetesDiscoveryConfig& out) {
  if (list.is_null()) return {};
  if (!list.is_sequence()) return list.error("selectors: expected a list");
  const std::vector<KubernetesRole> allowed = selectable(out);
  std::set<KubernetesRole> seen;
  for (const YamlNode& item : list.items()) {
    KubernetesDiscoveryConfig::Selector selector;
    YamlFields fields(item);
    const YamlNode* role = fields.take("role");
    fields.read("label", selector.label).read("field", selector.field);
    VAGT_CHECK_OK(fields.finish("kubernetes.SelectorConfig"));
    if (role == nullptr) return item.error("a selector needs a role");
    VAGT_TRY(selector.role, parse_role(*role));
    if (!seen.insert(selector.role).second)
      return item.error(fmt::format("duplicated selector role: {}", role->scalar()));
    if (std::find(allowed.begin(), allowed.end(), selector.role) == allowed.end()) {
      std::string names;
      for (const KubernetesRole name : allowed)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", role_name(name));
      return item.error(
          fmt::format("{} role supports only {} selectors", role_name(out.role), names));
    }
    out.selectors.push_back(std::move(selector));
  }
  return {};
}

Status read_namespaces(const YamlNode& node, KubernetesDiscoveryConfig& out) {
  YamlFields fields(node);
  fields.read("own_namespace", out.own_namespace).read("names", out.namespaces);
  return fields.finish("kubernetes.plain");
}

Status read_attached(const YamlNode& node, KubernetesDiscoveryConfig& out) {
  YamlFields fields(node);
  fields.read("node", out.attach_node).read("namespace", out.attach_namespace);
  fields.read("deployment", out.attach_deployment).read("job", out.attach_job);
  fields.read("cronjob", out.attach_cronjob);
  return fields.finish("kubernetes.AttachMetadataConfig");
}

// What contradicts itself about how to reach the API.
Status check_access(const YamlNode& node, const KubernetesDiscoveryConfig& config) {
  const bool has_file = !config.kubeconfig_file.empty(), has_url = !config.api_server.empty();
  // Defaults that are written out, as /api/v1/status/config does, are no options.
  const bool has_http_options = config.http != net::HttpClientConfig();
  if (has_file && has_url)
    return node.error("cannot use 'kubeconfig_file' and 'api_server' simultaneously");
  if (has_file && has_http_options) {
    return node.error(
        "cannot use a custom HTTP client configuration together with 'kubeconfig_file'");
  }
  if (!has_url && has_http_options) {
    return node.error(
        "to use custom HTTP client configuration please provide the 'api_server' URL explicitly");
  }
  for (const auto& [is_set, name] :
       {std::pair{has_url, "api_server"}, std::pair{has_file, "kubeconfig_file"}}) {
    if (is_set && config.own_namespace) {
      return node.error(
          fmt::format("cannot use '{}' and 'namespaces.own_namespace' simultaneously", name));
    }
  }
  if (!has_url || net::parse_url(config.api_server)) return {};
  return node.find("api_server")
      ->error(fmt::format("api_server {} is no URL", quote(config.api_server)));
}

}  // namespace

void check_refresh_interval(YamlFields& fields, Duration interval) {
  const YamlNode* node = fields.take("refresh_interval");
  if (node != nullptr && interval <= Duration::zero())
    fields.fail(node->error("refresh_interval must be greater than 0"));
}

Result<scrape::DnsDiscoveryConfig> read_dns_discovery(const YamlNode& node) {
  scrape::DnsDiscoveryConfig config;
  YamlFields fields(node);
  fields.read("names", config.names).read("type", config.type);
  fields.read("refresh_interval", config.refresh_interval);
  check_refresh_interval(fields, config.refresh_interval);
  read_port(fields, node, config.port);
  VAGT_CHECK_OK(fields.finish("dns.plain"));
  if (config.names.empty())
    return node.error("DNS-SD config must contain at least one SRV record name");
  const std::string type = upper(config.type);
  const YamlNode* at = node.find("type");
  if (type != "SRV" && type != "A" && type != "AAAA" && type != "MX" && type != "NS")
    return at->error(fmt::format("invalid DNS-SD records type {}", config.type));
  if (type != "SRV" && config.port == 0) {
    return node.error("a port is required in DNS-SD configs for all record types except SRV");
  }
  config.type = type;
  return config;
}

Result<scrape::DockerDiscoveryConfig> read_docker_discovery(const YamlNode& node,
                                                            const std::string& base_dir) {
  scrape::DockerDiscoveryConfig config;
  YamlFields fields(node);
  fields.read("host", config.host).read("host_networking_host", config.host_networking_host);
  fields.read("match_first_network", config.match_first_network);
  fields.read("refresh_interval", config.refresh_interval);
  check_refresh_interval(fields, config.refresh_interval);
  read_port(fields, node, config.port);
  if (const YamlNode* filters = fields.take("filters"))
    fields.fail(read_discovery_filters(*filters, config.filters));
  read_http_config(fields, base_dir, config.http);
  VAGT_CHECK_OK(fields.finish("moby.plain"));
  if (config.host.empty()) return node.error("host missing");
  for (const std::string_view scheme : {"unix://", "tcp://", "http://", "https://"}) {
    if (config.host.starts_with(scheme) && config.host.size() > scheme.size()) return config;
  }
  return node.find("host")->error(
      fmt::format("unable to parse docker host {}: expected unix://, tcp://, http:// or https://",
                  quote(config.host)));
}

Result<scrape::ConsulDiscoveryConfig> read_consul_discovery(const YamlNode& node,
                                                            const std::string& base_dir) {
  scrape::ConsulDiscoveryConfig config;
  std::string username;
  Secret password;
  YamlFields fields(node);
  fields.read("server", config.server).read("path_prefix", config.path_prefix);
  fields.read("token", config.token).read("datacenter", config.datacenter);
  fields.read("namespace", config.consul_namespace).read("partition", config.partition);
  fields.read("tag_separator", config.tag_separator).read("scheme", config.scheme);
  fields.read("username", username).read("password", password);
  fields.read("allow_stale", config.allow_stale);
  fields.read("refresh_interval", config.refresh_interval);
  check_refresh_interval(fields, config.refresh_interval);
  fields.read("services", config.services).read("tags", config.tags);
  fields.read("node_meta", config.node_meta);
  fields.read("filter", config.filter).read("health_filter", config.health_filter);
  read_http_config(fields, base_dir, config.http);
  VAGT_CHECK_OK(fields.finish("consul.plain"));
  if (config.server.find_first_not_of(" \t") == std::string::npos)
    return node.error("consul SD configuration requires a server address");
  if (config.scheme.empty()) config.scheme = "http";
  if (!username.empty() || !password.empty()) {
    if (config.http.basic_auth) {
      return node.error(
          "at most one of consul SD configuration username and password and basic auth can be "
          "configured");
    }
    net::BasicAuth& basic = config.http.basic_auth.emplace();
    basic.username = std::move(username), basic.password = std::move(password);
  }
  if (!config.token.empty() && (config.http.authorization || config.http.oauth2)) {
    return node.error("at most one of consul SD token, authorization, or oauth2 can be configured");
  }
  return config;
}

Result<KubernetesDiscoveryConfig> read_kubernetes_discovery(const YamlNode& node,
                                                            const std::string& base_dir) {
  KubernetesDiscoveryConfig config;
  YamlFields fields(node);
  fields.read("api_server", config.api_server).read("kubeconfig_file", config.kubeconfig_file);
  const YamlNode* role = fields.take("role");
  if (const YamlNode* at = fields.take("namespaces")) fields.fail(read_namespaces(*at, config));
  if (const YamlNode* at = fields.take("attach_metadata")) fields.fail(read_attached(*at, config));
  const YamlNode* selectors = fields.take("selectors");
  read_http_config(fields, base_dir, config.http);
  VAGT_CHECK_OK(fields.finish("kubernetes.plain"));
  if (role == nullptr || role->scalar().empty()) {
    return node.error(
        "role missing (one of: pod, service, endpoints, endpointslice, node, ingress)");
  }
  VAGT_TRY(config.role, parse_role(*role));
  config.kubeconfig_file = resolve_path(base_dir, config.kubeconfig_file);
  VAGT_CHECK_OK(check_access(node, config));
  if (selectors != nullptr) VAGT_CHECK_OK(read_selectors(*selectors, config));
  return config;
}

Status read_discovery_filters(const YamlNode& node, std::vector<scrape::DiscoveryFilter>& out) {
  if (node.is_null()) return {};
  if (!node.is_sequence()) return node.error("filters: expected a list");
  for (const YamlNode& item : node.items()) {
    scrape::DiscoveryFilter filter;
    YamlFields fields(item);
    fields.read("name", filter.name).read("values", filter.values);
    VAGT_CHECK_OK(fields.finish("Filter"));
    if (filter.name.empty()) return item.error("a filter needs a name");
    if (filter.values.empty()) return item.error("SD configuration filter values cannot be empty");
    out.push_back(std::move(filter));
  }
  return {};
}

}  // namespace vagt::config
