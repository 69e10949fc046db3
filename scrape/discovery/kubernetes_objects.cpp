#include "scrape/discovery/kubernetes_objects.h"

#include <fmt/core.h>

#include <algorithm>

#include "scrape/discovery/json_fields.h"

namespace vagt::scrape::kubernetes {
namespace {

using boost::json::value;

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::optional<std::string> optional_text(const value& json, std::string_view path) {
  const value* at = json_at(json, path);
  if (at == nullptr || !at->is_string()) return std::nullopt;
  return json_text(json, path);
}

std::optional<bool> optional_bool(const value& json, std::string_view path) {
  const value* at = json_at(json, path);
  if (at == nullptr || !at->is_bool()) return std::nullopt;
  return at->get_bool();
}

std::optional<Reference> reference(const value& json, std::string_view path) {
  const value* at = json_at(json, path);
  if (at == nullptr || !at->is_object()) return std::nullopt;
  return Reference{json_text(*at, "kind"), json_text(*at, "namespace"), json_text(*at, "name")};
}

Meta parse_meta(const value& json) {
  Meta meta;
  meta.name = json_text(json, "metadata.name");
  meta.name_space = json_text(json, "metadata.namespace");
  meta.uid = json_text(json, "metadata.uid");
  meta.version = json_text(json, "metadata.resourceVersion");
  meta.labels = json_texts(json, "metadata.labels");
  meta.annotations = json_texts(json, "metadata.annotations");
  for (const value& owner : json_list(json, "metadata.ownerReferences")) {
    if (!json_bool(owner, "controller")) continue;
    meta.controller = Owner{json_text(owner, "kind"), json_text(owner, "name")};
    break;
  }
  return meta;
}

// "" protocols are TCP to the API; its answers name it.
std::vector<ContainerPort> parse_ports(const value& json, std::string_view path,
                                       std::string_view number) {
  std::vector<ContainerPort> ports;
  for (const value& port : json_list(json, path)) {
    ports.push_back(
        {json_text(port, "name"), json_text(port, "protocol"), json_port(port, number)});
  }
  return ports;
}

std::string container_id(const value& pod, std::string_view statuses, const std::string& name) {
  for (const value& status : json_list(pod, statuses)) {
    if (json_text(status, "name") == name) return json_text(status, "containerID");
  }
  return "";
}

Pod parse_pod(const value& json) {
  Pod pod;
  pod.ip = json_text(json, "status.podIP");
  pod.host_ip = json_text(json, "status.hostIP");
  pod.phase = json_text(json, "status.phase");
  pod.node = json_text(json, "spec.nodeName");
  pod.ready = "unknown";
  for (const value& condition : json_list(json, "status.conditions")) {
    if (json_text(condition, "type") == "Ready") pod.ready = lower(json_text(condition, "status"));
  }
  const auto add = [&](std::string_view list, std::string_view statuses, bool is_init) {
    for (const value& item : json_list(json, list)) {
      Container container;
      container.name = json_text(item, "name");
      container.image = json_text(item, "image");
      container.id = container_id(json, statuses, container.name);
      container.is_init = is_init;
      container.ports = parse_ports(item, "ports", "containerPort");
      pod.containers.push_back(std::move(container));
    }
  };
  add("spec.containers", "status.containerStatuses", false);
  add("spec.initContainers", "status.initContainerStatuses", true);
  return pod;
}

Service parse_service(const value& json) {
  return {json_text(json, "spec.type"), json_text(json, "spec.clusterIP"),
          json_text(json, "spec.externalName"), json_text(json, "spec.loadBalancerIP"),
          parse_ports(json, "spec.ports", "port")};
}

Endpoints parse_endpoints(const value& json) {
  Endpoints endpoints;
  for (const value& item : json_list(json, "subsets")) {
    Endpoints::Subset subset;
    subset.ports = parse_ports(item, "ports", "port");
    for (const auto& [list, is_ready] :
         {std::pair{"addresses", true}, std::pair{"notReadyAddresses", false}}) {
      for (const value& address : json_list(item, list)) {
        subset.addresses.push_back({json_text(address, "ip"), json_text(address, "hostname"),
                                    optional_text(address, "nodeName"),
                                    reference(address, "targetRef"), is_ready});
      }
    }
    endpoints.subsets.push_back(std::move(subset));
  }
  return endpoints;
}

EndpointSlice parse_endpoint_slice(const value& json) {
  EndpointSlice slice;
  slice.address_type = json_text(json, "addressType");
  for (const value& item : json_list(json, "ports")) {
    EndpointSlice::Port port;
    port.name = optional_text(item, "name");
    port.protocol = optional_text(item, "protocol");
    port.app_protocol = optional_text(item, "appProtocol");
    if (json_at(item, "port") != nullptr) port.number = json_port(item, "port");
    slice.ports.push_back(std::move(port));
  }
  for (const value& item : json_list(json, "endpoints")) {
    EndpointSlice::Endpoint endpoint;
    for (const value& address : json_list(item, "addresses"))
      endpoint.addresses.push_back(json_text(address, ""));
    endpoint.ready = optional_bool(item, "conditions.ready");
    endpoint.serving = optional_bool(item, "conditions.serving");
    endpoint.terminating = optional_bool(item, "conditions.terminating");
    endpoint.hostname = optional_text(item, "hostname");
    endpoint.node = optional_text(item, "nodeName");
    endpoint.zone = optional_text(item, "zone");
    endpoint.target = reference(item, "targetRef");
    endpoint.topology = json_texts(item, "deprecatedTopology");
    slice.endpoints.push_back(std::move(endpoint));
  }
  return slice;
}

Ingress parse_ingress(const value& json) {
  Ingress ingress;
  ingress.class_name = optional_text(json, "spec.ingressClassName");
  for (const value& tls : json_list(json, "spec.tls")) {
    for (const value& host : json_list(tls, "hosts"))
      ingress.tls_hosts.push_back(json_text(host, ""));
  }
  for (const value& item : json_list(json, "spec.rules")) {
    Ingress::Rule rule;
    rule.host = json_text(item, "host");
    for (const value& path : json_list(item, "http.paths")) {
      const std::string text = json_text(path, "path");
      rule.paths.push_back(text.empty() ? "/" : text);
    }
    if (json_at(item, "http") == nullptr) rule.paths.push_back("/");
    ingress.rules.push_back(std::move(rule));
  }
  return ingress;
}

Node parse_node(const value& json) {
  Node node;
  node.provider_id = json_text(json, "spec.providerID");
  for (const value& address : json_list(json, "status.addresses"))
    node.addresses.emplace_back(json_text(address, "type"), json_text(address, "address"));
  node.kubelet_port = json_port(json, "status.daemonEndpoints.kubeletEndpoint.Port");
  return node;
}

ObjectPtr parse_object(Resource resource, const value& json) {
  auto object = std::make_shared<Object>();
  object->meta = parse_meta(json);
  switch (resource) {
    case Resource::Pods:
      object->body = parse_pod(json);
      break;
    case Resource::Services:
      object->body = parse_service(json);
      break;
    case Resource::Endpoints:
      object->body = parse_endpoints(json);
      break;
    case Resource::EndpointSlices:
      object->body = parse_endpoint_slice(json);
      break;
    case Resource::Ingresses:
      object->body = parse_ingress(json);
      break;
    case Resource::Nodes:
      object->body = parse_node(json);
      break;
    case Resource::Namespaces:
    case Resource::ReplicaSets:
    case Resource::Jobs:
      break;
  }
  return object;
}

std::string_view api_of(Resource resource) {
  switch (resource) {
    case Resource::EndpointSlices:
      return "/apis/discovery.k8s.io/v1";
    case Resource::Ingresses:
      return "/apis/networking.k8s.io/v1";
    case Resource::ReplicaSets:
      return "/apis/apps/v1";
    case Resource::Jobs:
      return "/apis/batch/v1";
    default:
      return "/api/v1";
  }
}

}  // namespace

std::string_view resource_name(Resource resource) {
  static constexpr std::string_view kNames[] = {"pods",           "services",    "endpoints",
                                                "endpointslices", "ingresses",   "nodes",
                                                "namespaces",     "replicasets", "jobs"};
  return kNames[static_cast<size_t>(resource)];
}

std::string resource_path(Resource resource, const std::string& name_space) {
  const bool is_namespaced = resource != Resource::Nodes && resource != Resource::Namespaces;
  const std::string scope =
      is_namespaced && !name_space.empty() ? fmt::format("/namespaces/{}", name_space) : "";
  return fmt::format("{}{}/{}", api_of(resource), scope, resource_name(resource));
}

Result<ObjectList> parse_list(Resource resource, std::string_view text) {
  VAGT_TRY(const value json, parse_json(text));
  const value* items = json_at(json, "items");
  if (json_at(json, "metadata") == nullptr || (items != nullptr && items->is_string()))
    return Status(Code::Corruption, fmt::format("no list of {}", resource_name(resource)));
  ObjectList list;
  list.version = json_text(json, "metadata.resourceVersion");
  list.next = json_text(json, "metadata.continue");
  for (const value& item : json_list(json, "items")) {
    ObjectPtr object = parse_object(resource, item);
    if (!object->meta.name.empty()) list.objects.push_back(std::move(object));
  }
  return list;
}

Result<WatchEvent> parse_event(Resource resource, std::string_view line) {
  VAGT_TRY(const value json, parse_json(line));
  const std::string type = json_text(json, "type");
  const value* object = json_at(json, "object");
  WatchEvent event;
  if (object == nullptr || !object->is_object())
    return Status(Code::Corruption, "a watch event without an object");
  if (type == "ERROR") {
    event.code = json_number(*object, "code");
    event.message = json_text(*object, "message");
    return event;
  }
  using Type = WatchEvent::Type;
  if (type == "ADDED") {
    event.type = Type::Added;
  } else if (type == "MODIFIED") {
    event.type = Type::Modified;
  } else if (type == "DELETED") {
    event.type = Type::Deleted;
  } else if (type == "BOOKMARK") {
    event.type = Type::Bookmark;
  } else {
    return Status(Code::Corruption, fmt::format("a watch event of unknown type {}", quote(type)));
  }
  event.object = parse_object(resource, *object);
  if (event.type != Type::Bookmark && event.object->meta.name.empty())
    return Status(Code::Corruption, "a watch event for an object without a name");
  return event;
}

}  // namespace vagt::scrape::kubernetes
