// From the engine's lists to targets: one for each network and exposed TCP port of a container.
#include <fmt/core.h>

#include <set>

#include "scrape/discovery/docker_discovery.h"
#include "scrape/discovery/json_fields.h"

namespace vagt::scrape {
namespace {

using boost::json::value;

std::map<std::string, TextMap> network_labels(const value& networks) {
  std::map<std::string, TextMap> by_id;
  for (const value& network : json_list(networks, "")) {
    TextMap& labels = by_id[json_text(network, "Id")];
    const std::string prefix = "__meta_docker_network_";
    labels[prefix + "id"] = json_text(network, "Id");
    labels[prefix + "name"] = json_text(network, "Name");
    labels[prefix + "scope"] = json_text(network, "Scope");
    labels[prefix + "internal"] = json_bool(network, "Internal") ? "true" : "false";
    labels[prefix + "ingress"] = json_bool(network, "Ingress") ? "true" : "false";
    for (const auto& [name, text] : json_texts(network, "Labels"))
      labels[prefix + "label_" + sanitize_label_name(name)] = text;
  }
  return by_id;
}

class Builder {
 public:
  Builder(const DockerDiscoveryConfig& config, const value& containers, const value& networks)
      : config_(config), networks_(network_labels(networks)) {
    for (const value& container : json_list(containers, ""))
      by_id_[json_text(container, "Id")] = &container;
  }

  void add(const value& container, std::vector<TextMap>& targets) const {
    const auto& names = json_list(container, "Names");
    if (names.empty() || !names[0].is_string()) return;
    const std::string mode = json_text(container, "HostConfig.NetworkMode");
    TextMap common = {{"__meta_docker_container_id", json_text(container, "Id")},
                      {"__meta_docker_container_name", std::string(names[0].as_string().c_str())},
                      {"__meta_docker_container_network_mode", mode}};
    for (const auto& [name, text] : json_texts(container, "Labels"))
      common["__meta_docker_container_label_" + sanitize_label_name(name)] = text;
    for (const value* network : networks_of(container, mode)) {
      TextMap labels = common;
      const auto known = networks_.find(json_text(*network, "NetworkID"));
      if (known != networks_.end()) labels.insert(known->second.begin(), known->second.end());
      std::string ip = json_text(*network, "IPAddress");
      if (ip.empty()) ip = json_text(*network, "GlobalIPv6Address");
      labels["__meta_docker_network_ip"] = ip;
      add_ports(container, mode, ip, labels, targets);
    }
  }

 private:
  // Of a container that shares another one's network: that one's.
  std::vector<const value*> networks_of(const value& container, std::string mode) const {
    const value* owner = &container;
    std::set<const value*> seen;
    while (endpoints(*owner).empty() && mode.starts_with("container:")) {
      const auto next = by_id_.find(mode.substr(10));
      if (next == by_id_.end() || !seen.insert(next->second).second) break;
      owner = next->second;
      mode = json_text(*owner, "HostConfig.NetworkMode");
    }
    const auto by_name = endpoints(*owner);
    std::vector<const value*> out;
    for (const auto& [name, network] : by_name) {
      out.push_back(network);
      if (config_.match_first_network) break;
    }
    return out;
  }

  static std::map<std::string, const value*> endpoints(const value& container) {
    std::map<std::string, const value*> out;
    const value* networks = json_at(container, "NetworkSettings.Networks");
    if (networks == nullptr || !networks->is_object()) return out;
    for (const auto& [name, network] : networks->as_object()) {
      if (network.is_object()) out[std::string(name)] = &network;
    }
    return out;
  }

  void add_ports(const value& container, const std::string& mode, const std::string& ip,
                 const TextMap& common, std::vector<TextMap>& targets) const {
    bool is_added = false;
    for (const value& port : json_list(container, "Ports")) {
      if (json_text(port, "Type") != "tcp") continue;
      const auto inside = json_port(port, "PrivatePort");
      const auto outside = json_port(port, "PublicPort");
      TextMap labels = common;
      labels["__address__"] = join_host_port(ip, inside);
      labels["__meta_docker_port_private"] = fmt::format("{}", inside);
      if (outside > 0) {
        labels["__meta_docker_port_public"] = fmt::format("{}", outside);
        labels["__meta_docker_port_public_ip"] = json_text(port, "IP");
      }
      targets.push_back(std::move(labels));
      is_added = true;
    }
    if (is_added) return;
    // Containers in the host's network expose no ports: they end up here.
    TextMap labels = common;
    labels["__address__"] =
        mode == "host" ? config_.host_networking_host : join_host_port(ip, config_.port);
    targets.push_back(std::move(labels));
  }

  const DockerDiscoveryConfig& config_;
  const std::map<std::string, TextMap> networks_;
  std::map<std::string, const value*> by_id_;
};

}  // namespace

Result<TargetGroups> docker_targets(const DockerDiscoveryConfig& config,
                                    std::string_view containers, std::string_view networks) {
  VAGT_TRY(const value container_list, parse_json(containers).at("containers"));
  VAGT_TRY(const value network_list, parse_json(networks).at("networks"));
  if (!container_list.is_array() || !(network_list.is_array() || network_list.is_null()))
    return Status(Code::Corruption, "Docker's answer is no list");
  const Builder builder(config, container_list, network_list);
  TargetGroup group;
  group.source = "docker/" + config.host;
  for (const value& container : container_list.as_array()) builder.add(container, group.targets);
  return TargetGroups{std::move(group)};
}

}  // namespace vagt::scrape
