#include "scrape/discovery/kubernetes_targets.h"

#include <fmt/core.h>

#include <algorithm>

namespace vagt::scrape::kubernetes {
namespace {

const std::string kMeta = "__meta_kubernetes_";

void set(TextMap& labels, std::string_view name, std::string value) {
  labels[kMeta + std::string(name)] = std::move(value);
}

void set_present(TextMap& labels, std::string_view prefix, const TextMap& members) {
  for (const auto& [name, value] : members) {
    const std::string label = sanitize_label_name(name);
    set(labels, fmt::format("{}_{}", prefix, label), value);
    set(labels, fmt::format("{}present_{}", prefix, label), "true");
  }
}

void add_labels_and_annotations(TextMap& labels, std::string_view role, const Meta& meta) {
  set_present(labels, fmt::format("{}_label", role), meta.labels);
  set_present(labels, fmt::format("{}_annotation", role), meta.annotations);
}

void add_meta(TextMap& labels, std::string_view role, const Meta& meta) {
  set(labels, fmt::format("{}_name", role), meta.name);
  add_labels_and_annotations(labels, role, meta);
}

const Object* find(const Cluster& cluster, Resource resource, const std::string& key) {
  const auto store = cluster.find(resource);
  if (store == cluster.end()) return nullptr;
  const auto object = store->second.find(key);
  return object == store->second.end() ? nullptr : object->second.get();
}

// As Go's Merge: what `from` has wins.
void merge(TextMap& labels, const TextMap& from) {
  for (const auto& [name, value] : from) labels[name] = value;
}

class Builder {
 public:
  Builder(const KubernetesDiscoveryConfig& config, const Cluster& cluster)
      : config_(config), cluster_(cluster) {}

  // What `object` makes; its kind decides.
  TargetGroup group_of(const Object& object) const {
    TargetGroup group;
    const auto build = [&](const auto& body) { add(object, body, group); };
    std::visit(build, object.body);
    return group;
  }

 private:
  static void add(const Object&, const std::monostate&, TargetGroup&) {}

  void add(const Object& object, const Pod& pod, TargetGroup& group) const {
    group.source = "pod/" + object.key();
    if (pod.ip.empty()) return;  // it starts, or was evicted
    group.labels = pod_labels(object, pod);
    set(group.labels, "namespace", object.meta.name_space);
    if (config_.attach_node) add_node(group.labels, pod.node);
    add_namespace(group.labels, object.meta.name_space);
    for (const Container& container : pod.containers) {
      TextMap labels;
      set(labels, "pod_container_name", container.name);
      set(labels, "pod_container_id", container.id);
      set(labels, "pod_container_image", container.image);
      set(labels, "pod_container_init", container.is_init ? "true" : "false");
      // Without ports: one target, for relabelling to give it one.
      if (container.ports.empty()) {
        labels["__address__"] = pod.ip;
        group.targets.push_back(labels);
      }
      for (const ContainerPort& port : container.ports) {
        labels["__address__"] = join_host_port(pod.ip, port.number);
        set(labels, "pod_container_port_number", fmt::format("{}", port.number));
        set(labels, "pod_container_port_name", port.name);
        set(labels, "pod_container_port_protocol", port.protocol);
        group.targets.push_back(labels);
      }
    }
  }

  void add(const Object& object, const Service& service, TargetGroup& group) const {
    group.source = "svc/" + object.key();
    group.labels = service_labels(object);
    add_namespace(group.labels, object.meta.name_space);
    const std::string host = object.meta.name + "." + object.meta.name_space + ".svc";
    for (const ContainerPort& port : service.ports) {
      TextMap labels = {{"__address__", join_host_port(host, port.number)}};
      set(labels, "service_port_name", port.name);
      set(labels, "service_port_number", fmt::format("{}", port.number));
      set(labels, "service_port_protocol", port.protocol);
      set(labels, "service_type", service.type);
      const bool is_external = service.type == "ExternalName";
      set(labels, is_external ? "service_external_name" : "service_cluster_ip",
          is_external ? service.external_name : service.cluster_ip);
      if (service.type == "LoadBalancer")
        set(labels, "service_loadbalancer_ip", service.load_balancer_ip);
      group.targets.push_back(std::move(labels));
    }
  }

  void add(const Object& object, const Endpoints& endpoints, TargetGroup& group) const {
    group.source = "endpoints/" + object.key();
    set(group.labels, "namespace", object.meta.name_space);
    if (const Object* service = find(cluster_, Resource::Services, object.key()))
      merge(group.labels, service_labels(*service));
    add_meta(group.labels, "endpoints", object.meta);
    add_namespace(group.labels, object.meta.name_space);
    SeenPods seen;
    for (const Endpoints::Subset& subset : endpoints.subsets) {
      for (const ContainerPort& port : subset.ports) {
        for (const EndpointAddress& address : subset.addresses) {
          TextMap labels = endpoint_labels(address, port);
          add_backed(labels, address.target, port.number, &port.protocol, seen);
          group.targets.push_back(std::move(labels));
        }
      }
    }
    add_other_ports(seen, group);
  }

  void add(const Object& object, const EndpointSlice& slice, TargetGroup& group) const {
    group.source = "endpointslice/" + object.key();
    set(group.labels, "namespace", object.meta.name_space);
    set(group.labels, "endpointslice_address_type", slice.address_type);
    add_meta(group.labels, "endpointslice", object.meta);
    const auto service = object.meta.labels.find("kubernetes.io/service-name");
    if (service != object.meta.labels.end()) {
      const std::string key = object.meta.name_space + "/" + service->second;
      if (const Object* found = find(cluster_, Resource::Services, key))
        merge(group.labels, service_labels(*found));
    }
    add_namespace(group.labels, object.meta.name_space);
    SeenPods seen;
    for (const EndpointSlice::Endpoint& endpoint : slice.endpoints) {
      for (const EndpointSlice::Port& port : slice.ports) {
        for (const std::string& address : endpoint.addresses) {
          TextMap labels = slice_labels(address, endpoint, port);
          add_backed(labels, endpoint.target, port.number, nullptr, seen);
          group.targets.push_back(std::move(labels));
        }
      }
    }
    add_other_ports(seen, group);
  }

  void add(const Object& object, const Ingress& ingress, TargetGroup& group) const {
    group.source = "ingress/" + object.key();
    set(group.labels, "namespace", object.meta.name_space);
    if (ingress.class_name) set(group.labels, "ingress_class_name", *ingress.class_name);
    add_meta(group.labels, "ingress", object.meta);
    add_namespace(group.labels, object.meta.name_space);
    for (const Ingress::Rule& rule : ingress.rules) {
      const bool is_tls =
          std::any_of(ingress.tls_hosts.begin(), ingress.tls_hosts.end(),
                      [&rule](const std::string& host) { return matches(host, rule.host); });
      for (const std::string& path : rule.paths) {
        TextMap labels = {{"__address__", rule.host}};
        set(labels, "ingress_scheme", is_tls ? "https" : "http");
        set(labels, "ingress_host", rule.host);
        set(labels, "ingress_path", path);
        group.targets.push_back(std::move(labels));
      }
    }
  }

  void add(const Object& object, const Node& node, TargetGroup& group) const {
    group.source = "node/" + object.meta.name;
    set(group.labels, "node_provider_id", node.provider_id);
    add_meta(group.labels, "node", object.meta);
    TextMap labels;
    std::map<std::string, std::string> first;  // address by type
    for (const auto& [type, address] : node.addresses) first.try_emplace(type, address);
    for (const auto& [type, address] : first)
      set(labels, "node_address_" + sanitize_label_name(type), address);
    for (const char* type :
         {"InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname"}) {
      const auto found = first.find(type);
      if (found == first.end()) continue;
      labels["__address__"] = join_host_port(found->second, node.kubelet_port);
      labels["instance"] = object.meta.name;
      group.targets.push_back(std::move(labels));
      return;
    }
  }

  // Pods behind endpoints, and the ports of theirs that have a target already.
  using SeenPods = std::map<std::string, std::vector<uint32_t>>;

  TextMap pod_labels(const Object& object, const Pod& pod) const {
    TextMap labels;
    set(labels, "pod_ip", pod.ip);
    set(labels, "pod_ready", pod.ready);
    set(labels, "pod_phase", pod.phase);
    set(labels, "pod_node_name", pod.node);
    set(labels, "pod_host_ip", pod.host_ip);
    set(labels, "pod_uid", object.meta.uid);
    add_meta(labels, "pod", object.meta);
    if (!object.meta.controller) return labels;
    const Owner& owner = *object.meta.controller;
    set(labels, "pod_controller_kind", owner.kind);
    set(labels, "pod_controller_name", owner.name);
    const std::string key = object.meta.name_space + "/" + owner.name;
    if (config_.attach_deployment && owner.kind == "ReplicaSet")
      add_controller(labels, Resource::ReplicaSets, key, "Deployment", "pod_deployment_name");
    if (owner.kind == "Job") {
      if (config_.attach_job) set(labels, "pod_job_name", owner.name);
      if (config_.attach_cronjob)
        add_controller(labels, Resource::Jobs, key, "CronJob", "pod_cronjob_name");
    }
    return labels;
  }

  void add_controller(TextMap& labels, Resource resource, const std::string& key,
                      std::string_view kind, std::string_view label) const {
    const Object* between = find(cluster_, resource, key);
    if (between == nullptr || !between->meta.controller) return;
    if (between->meta.controller->kind == kind) set(labels, label, between->meta.controller->name);
  }

  static TextMap service_labels(const Object& service) {
    TextMap labels;
    set(labels, "namespace", service.meta.name_space);
    add_meta(labels, "service", service.meta);
    return labels;
  }

  void add_node(TextMap& labels, const std::string& name) const {
    if (const Object* node = find(cluster_, Resource::Nodes, "/" + name))
      add_meta(labels, "node", node->meta);
  }

  void add_namespace(TextMap& labels, const std::string& name) const {
    if (!config_.attach_namespace) return;
    if (const Object* found = find(cluster_, Resource::Namespaces, "/" + name))
      add_labels_and_annotations(labels, "namespace", found->meta);
  }

  TextMap endpoint_labels(const EndpointAddress& address, const ContainerPort& port) const {
    TextMap labels = {{"__address__", join_host_port(address.ip, port.number)}};
    set(labels, "endpoint_port_name", port.name);
    set(labels, "endpoint_port_protocol", port.protocol);
    set(labels, "endpoint_ready", address.is_ready ? "true" : "false");
    if (address.target) {
      set(labels, "endpoint_address_target_kind", address.target->kind);
      set(labels, "endpoint_address_target_name", address.target->name);
    }
    if (address.node) set(labels, "endpoint_node_name", *address.node);
    if (!address.hostname.empty()) set(labels, "endpoint_hostname", address.hostname);
    if (config_.attach_node && address.node) {
      add_node(labels, *address.node);
    } else if (config_.attach_node && address.target && address.target->kind == "Node") {
      add_node(labels, address.target->name);
    }
    return labels;
  }

  TextMap slice_labels(const std::string& address, const EndpointSlice::Endpoint& endpoint,
                       const EndpointSlice::Port& port) const {
    TextMap labels = {
        {"__address__", port.number ? join_host_port(address, *port.number) : address}};
    const auto text = [&labels](std::string_view name, const std::optional<std::string>& value) {
      if (value) set(labels, fmt::format("endpointslice_{}", name), *value);
    };
    const auto yes = [&text](std::string_view name, const std::optional<bool>& value) {
      if (value) text(name, *value ? "true" : "false");
    };
    text("port_name", port.name), text("port_protocol", port.protocol);
    text("port_app_protocol", port.app_protocol);
    if (port.number) text("port", fmt::format("{}", *port.number));
    yes("endpoint_conditions_ready", endpoint.ready);
    yes("endpoint_conditions_serving", endpoint.serving);
    yes("endpoint_conditions_terminating", endpoint.terminating);
    text("endpoint_hostname", endpoint.hostname), text("endpoint_node_name", endpoint.node);
    text("endpoint_zone", endpoint.zone);
    if (endpoint.target) {
      text("address_target_kind", endpoint.target->kind);
      text("address_target_name", endpoint.target->name);
    }
    for (const auto& [name, value] : endpoint.topology) {
      text("endpoint_topology_" + sanitize_label_name(name), value);
      text("endpoint_topology_present_" + sanitize_label_name(name), "true");
    }
    if (!config_.attach_node) return labels;
    if (endpoint.target && endpoint.target->kind == "Node") {
      add_node(labels, endpoint.target->name);
    } else if (endpoint.node) {
      add_node(labels, *endpoint.node);
    }
    return labels;
  }

  const Object* pod_of(const std::optional<Reference>& target) const {
    if (!target || target->kind != "Pod") return nullptr;
    return find(cluster_, Resource::Pods, target->name_space + "/" + target->name);
  }

  // The labels of the pod behind an endpoint, and of the container port it leads to. `protocol`
  // null: the container's own word counts.
  void add_backed(TextMap& labels, const std::optional<Reference>& target,
                  const std::optional<uint32_t>& number, const std::string* protocol,
                  SeenPods& seen) const {
    const Object* object = pod_of(target);
    if (object == nullptr) return;
    const Pod& pod = std::get<Pod>(object->body);
    merge(labels, pod_labels(*object, pod));
    auto& ports = seen[object->key()];
    if (!number) return;
    ports.push_back(*number);
    for (const Container& container : pod.containers) {
      const auto port = std::find_if(container.ports.begin(), container.ports.end(),
                                     [&](const auto& p) { return p.number == *number; });
      if (port != container.ports.end())
        add_container(labels, container, *port, protocol != nullptr ? *protocol : port->protocol);
    }
  }

  static void add_container(TextMap& labels, const Container& container, const ContainerPort& port,
                            const std::string& protocol) {
    set(labels, "pod_container_name", container.name);
    set(labels, "pod_container_image", container.image);
    set(labels, "pod_container_port_name", port.name);
    set(labels, "pod_container_port_number", fmt::format("{}", port.number));
    set(labels, "pod_container_port_protocol", protocol);
    set(labels, "pod_container_init", container.is_init ? "true" : "false");
  }

  // The ports of those pods that no endpoint leads to.
  void add_other_ports(const SeenPods& seen, TargetGroup& group) const {
    for (const auto& [key, ports] : seen) {
      const Object* object = find(cluster_, Resource::Pods, key);
      const Pod& pod = std::get<Pod>(object->body);
      if (pod.ip.empty()) continue;
      for (const Container& container : pod.containers) {
        for (const ContainerPort& port : container.ports) {
          if (std::find(ports.begin(), ports.end(), port.number) != ports.end()) continue;
          TextMap labels = {{"__address__", join_host_port(pod.ip, port.number)}};
          add_container(labels, container, port, port.protocol);
          merge(labels, pod_labels(*object, pod));
          group.targets.push_back(std::move(labels));
        }
      }
    }
  }

  // "*.example.com" stands for one label.
  static bool matches(std::string_view pattern, std::string_view host) {
    if (pattern == host) return true;
    const size_t dot = host.find('.');
    return pattern.starts_with("*.") && dot != std::string_view::npos &&
           pattern.substr(1) == host.substr(dot);
  }

  const KubernetesDiscoveryConfig& config_;
  const Cluster& cluster_;
};

}  // namespace

Resource resource_of(KubernetesRole role) {
  switch (role) {
    case KubernetesRole::Node:
      return Resource::Nodes;
    case KubernetesRole::Service:
      return Resource::Services;
    case KubernetesRole::Pod:
      return Resource::Pods;
    case KubernetesRole::Endpoints:
      return Resource::Endpoints;
    case KubernetesRole::EndpointSlice:
      return Resource::EndpointSlices;
    case KubernetesRole::Ingress:
      return Resource::Ingresses;
  }
  return Resource::Pods;
}

TargetGroups targets_of(const KubernetesDiscoveryConfig& config, const Cluster& cluster) {
  const Builder builder(config, cluster);
  TargetGroups groups;
  const auto store = cluster.find(resource_of(config.role));
  if (store == cluster.end()) return groups;
  for (const auto& [key, object] : store->second) {
    TargetGroup group = builder.group_of(*object);
    if (!group.targets.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace vagt::scrape::kubernetes
