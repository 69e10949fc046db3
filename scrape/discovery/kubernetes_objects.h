// The parts of Kubernetes' objects that targets are made of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape::kubernetes {

struct Owner {
  std::string kind, name;
};
struct Meta {
  std::string name, name_space, uid, version;
  TextMap labels, annotations;
  std::optional<Owner> controller;
};

struct ContainerPort {
  std::string name, protocol;
  uint32_t number = 0;
};
struct Container {
  std::string name, image, id;
  bool is_init = false;
  std::vector<ContainerPort> ports;
};
struct Pod {
  std::string ip, host_ip, phase, node, ready;
  std::vector<Container> containers;  // those that initialise it last
};

struct Service {
  std::string type, cluster_ip, external_name, load_balancer_ip;
  std::vector<ContainerPort> ports;
};

struct Reference {
  std::string kind, name_space, name;
};
struct EndpointAddress {
  std::string ip, hostname;
  std::optional<std::string> node;
  std::optional<Reference> target;
  bool is_ready = true;
};
struct Endpoints {
  struct Subset {
    std::vector<ContainerPort> ports;
    std::vector<EndpointAddress> addresses;  // the ready ones first
  };
  std::vector<Subset> subsets;
};

struct EndpointSlice {
  struct Port {
    std::optional<std::string> name, protocol, app_protocol;
    std::optional<uint32_t> number;
  };
  struct Endpoint {
    std::vector<std::string> addresses;
    std::optional<bool> ready, serving, terminating;
    std::optional<std::string> hostname, node, zone;
    std::optional<Reference> target;
    TextMap topology;
  };
  std::string address_type;
  std::vector<Port> ports;
  std::vector<Endpoint> endpoints;
};

struct Ingress {
  struct Rule {
    std::string host;
    std::vector<std::string> paths;
  };
  std::optional<std::string> class_name;
  std::vector<std::string> tls_hosts;
  std::vector<Rule> rules;
};

struct Node {
  std::string provider_id;
  std::vector<std::pair<std::string, std::string>> addresses;  // type, address
  uint32_t kubelet_port = 0;
};

struct Object {
  Meta meta;
  // monostate: one of which only the metadata matters (namespaces, replica sets, jobs)
  std::variant<std::monostate, Pod, Service, Endpoints, EndpointSlice, Ingress, Node> body;
  std::string key() const { return meta.name_space + "/" + meta.name; }
};
using ObjectPtr = std::shared_ptr<const Object>;

// The kinds of objects that are asked for.
enum class Resource : uint8_t {
  Pods,
  Services,
  Endpoints,
  EndpointSlices,
  Ingresses,
  Nodes,
  Namespaces,
  ReplicaSets,
  Jobs
};
// "/api/v1/namespaces/NS/pods"; of all namespaces when `name_space` is "".
std::string resource_path(Resource resource, const std::string& name_space);
std::string_view resource_name(Resource resource);

// One page of a list.
struct ObjectList {
  std::vector<ObjectPtr> objects;
  std::string version, next;  // resourceVersion; the token for the next page, "" at the end
};
// Corruption: no such list.
Result<ObjectList> parse_list(Resource resource, std::string_view text);

// One line of a watch.
struct WatchEvent {
  enum class Type : uint8_t { Added, Modified, Deleted, Bookmark, Error };
  Type type = Type::Error;
  ObjectPtr object;     // not for Error
  int64_t code = 0;     // Error: as HTTP status, 410 is "too old"
  std::string message;  // Error
};
Result<WatchEvent> parse_event(Resource resource, std::string_view line);

}  // namespace vagt::scrape::kubernetes
