#include "scrape/discovery/kubernetes_discovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/mailbox.h"
#include "scrape/discovery/byte_gate.h"
#include "scrape/discovery/kubernetes_reflector.h"

namespace vagt::scrape {
namespace {

using kubernetes::Access;
using kubernetes::Cluster;
using kubernetes::Reflector;
using kubernetes::Resource;
using kubernetes::resource_of;
using kubernetes::Selection;
using std::chrono::steady_clock;

constexpr uint64_t kMaxListBytes = 256u << 20;
constexpr uint64_t kMaxWaitingBytes = 8u << 20;  // of watches, received and not taken yet
constexpr Duration kIdle = std::chrono::minutes(10);

// Something of a request came in: a piece of a watch, or the end.
struct Message {
  size_t reflector = 0;
  uint64_t request = 0;
  std::string piece;
  std::shared_ptr<const Result<net::HttpResponse>> answer;  // null: `piece` ("": the header)
};

// One reflector and its request under way.
struct Follower {
  std::unique_ptr<Reflector> reflector;
  uint64_t request = 0;  // 0: none
  std::shared_ptr<std::atomic<bool>> is_wanted;
  steady_clock::time_point asked{};
};

// What the role's targets are made of.
std::set<Resource> resources_of(const KubernetesDiscoveryConfig& config) {
  std::set<Resource> out = {resource_of(config.role)};
  const bool is_backed =
      config.role == KubernetesRole::Endpoints || config.role == KubernetesRole::EndpointSlice;
  if (is_backed) out.insert({Resource::Services, Resource::Pods});
  const bool has_pods = is_backed || config.role == KubernetesRole::Pod;
  if (has_pods && config.attach_node) out.insert(Resource::Nodes);
  if (has_pods && config.attach_deployment) out.insert(Resource::ReplicaSets);
  if (has_pods && config.attach_cronjob) out.insert(Resource::Jobs);
  if (config.attach_namespace && config.role != KubernetesRole::Node)
    out.insert(Resource::Namespaces);
  return out;
}

std::string_view role_name(Resource resource) {
  static constexpr std::string_view kNames[] = {"pod",           "service",    "endpoints",
                                                "endpointslice", "ingress",    "node",
                                                "namespace",     "replicaset", "job"};
  return kNames[static_cast<size_t>(resource)];
}

class KubernetesDiscovery final : public DiscoverySource {
 public:
  KubernetesDiscovery(KubernetesDiscoveryConfig config, KubernetesDiscoveryOptions options,
                      base::Registry& registry)
      : config_(std::move(config)),
        options_(std::move(options)),
        registry_(registry),
        failures_(registry.counter("prometheus_sd_kubernetes_failures_total",
                                   "Lists and watches of Kubernetes objects that failed.")),
        client_({options_.user_agent, 0, 0}) {}
  std::string_view kind() const override { return "kubernetes"; }

  void run(std::stop_token stop, DiscoverySink& sink) override {
    while (true) {
      auto access = kubernetes::find_access(config_, options_.access);
      if (access) {
        access_ = std::move(*access);
        break;
      }
      failures_.add();
      sink.publish(std::nullopt, access.error());
      if (!wait_for(stop, options_.longest_backoff)) return;
    }
    profile_ = std::make_shared<const net::HttpClientConfig>(access_.http);
    follow();
    while (!stop.stop_requested()) {
      auto wake = ask_due();
      if (is_dirty_) wake = std::min(wake, publish_at_);
      for (const Message& message : messages_.wait_until(wake, stop)) {
        take(message);
        gate_.leave(message.piece.size());
      }
      if (!stop.stop_requested()) publish(sink);
    }
    gate_.close();
  }

 private:
  std::vector<std::string> namespaces() const {
    std::vector<std::string> names = config_.namespaces;
    if (config_.own_namespace) names.push_back(access_.own_namespace);
    if (names.empty()) names.emplace_back();
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  void follow() {
    for (const Resource resource : resources_of(config_)) {
      const bool is_namespaced = resource != Resource::Nodes && resource != Resource::Namespaces;
      for (const std::string& name_space :
           is_namespaced ? namespaces() : std::vector<std::string>(1)) {
        Selection selection{resource, name_space, "", ""};
        for (const auto& selector : config_.selectors) {
          if (resource_of(selector.role) != resource) continue;
          selection.label = selector.label, selection.field = selector.field;
        }
        Follower follower;
        follower.reflector =
            std::make_unique<Reflector>(std::move(selection), options_, cluster_[resource]);
        followers_.push_back(std::move(follower));
      }
    }
  }

  steady_clock::time_point ask_due() {
    const auto now = steady_clock::now();
    auto wake = now + kIdle;
    for (size_t i = 0; i < followers_.size(); ++i) {
      Follower& follower = followers_[i];
      if (follower.request != 0) continue;
      if (follower.reflector->ask_at() > now) {
        wake = std::min(wake, follower.reflector->ask_at());
      } else {
        ask(i, now);
      }
    }
    return wake;
  }

  void ask(size_t i, steady_clock::time_point now) {
    Follower& follower = followers_[i];
    const uint64_t id = follower.request = next_request_++;
    follower.asked = now;
    follower.is_wanted = std::make_shared<std::atomic<bool>>(true);
    net::HttpRequest request;
    request.url = Secret(access_.url + follower.reflector->path());
    request.headers = {{"Accept", "application/json"}};
    request.max_body_bytes = kMaxListBytes;
    request.timeout = options_.list_timeout;
    if (follower.reflector->is_watching()) {
      // A server that falls silent is given up a little after it should have ended the watch.
      request.timeout = options_.watch_time + options_.grace;
      request.on_body = [this, i, id, is_wanted = follower.is_wanted](std::string_view piece) {
        if (!*is_wanted || !gate_.enter(piece.size())) return false;
        messages_.post({i, id, std::string(piece), nullptr});
        return true;
      };
    }
    client_.send(std::move(request), profile_, [this, i, id](Result<net::HttpResponse> answer) {
      messages_.post(
          {i, id, "", std::make_shared<const Result<net::HttpResponse>>(std::move(answer))});
    });
  }

  void take(const Message& message) {
    Follower& follower = followers_[message.reflector];
    if (follower.request != message.request) return;  // of a request that was given up
    Reflector& reflector = *follower.reflector;
    const auto now = steady_clock::now();
    const bool was_well = reflector.status().ok();
    Reflector::Changes changes;
    if (message.answer != nullptr) {
      follower.request = 0;
      reflector.take_answer(*message.answer, follower.asked, now, changes);
    } else if (message.piece.empty()) {
      reflector.connected();
    } else if (!reflector.take_piece(message.piece, now, changes)) {
      *follower.is_wanted = false;
      follower.request = 0;
    }
    if (!reflector.status().ok()) failures_.add();
    count(reflector.resource(), changes);
    is_dirty_ |= changes.added + changes.modified + changes.deleted != 0;
    is_status_new_ |= was_well != reflector.status().ok() || !was_well;
  }

  void count(Resource resource, const Reflector::Changes& changes) {
    const auto add = [&](std::string_view event, size_t n) {
      if (n == 0) return;
      registry_
          .counter("prometheus_sd_kubernetes_events_total", "Kubernetes events handled.",
                   Labels::of({{"role", role_name(resource)}, {"event", event}}))
          .add(static_cast<double>(n));
    };
    add("add", changes.added);
    add("update", changes.modified);
    add("delete", changes.deleted);
  }

  void publish(DiscoverySink& sink) {
    const auto now = steady_clock::now();
    const auto failing = std::find_if(followers_.begin(), followers_.end(), [](const Follower& f) {
      return !f.reflector->status().ok();
    });
    const Status status = failing == followers_.end() ? Status() : failing->reflector->status();
    const bool is_synced = std::all_of(followers_.begin(), followers_.end(),
                                       [](const Follower& f) { return f.reflector->is_synced(); });
    if (!was_synced_ && is_synced) is_dirty_ = true;
    // Before all lists are there, targets would lack labels, or be none.
    if (is_dirty_ && is_synced && publish_at_ <= now) {
      is_dirty_ = is_status_new_ = false;
      was_synced_ = true;
      publish_at_ = now + options_.publish_pause;
      sink.publish(kubernetes::targets_of(config_, cluster_), status);
    } else if (is_status_new_) {
      is_status_new_ = false;
      sink.publish(std::nullopt, status);
    }
    if (!is_synced) is_dirty_ = false;
  }

  const KubernetesDiscoveryConfig config_;
  const KubernetesDiscoveryOptions options_;
  base::Registry& registry_;
  base::Counter& failures_;
  Access access_;
  net::HttpClient::Profile profile_;
  Cluster cluster_;
  std::vector<Follower> followers_;
  uint64_t next_request_ = 1;
  bool is_dirty_ = false, is_status_new_ = false, was_synced_ = false;
  steady_clock::time_point publish_at_{};
  base::Mailbox<Message> messages_;
  ByteGate gate_{kMaxWaitingBytes};
  net::HttpClient client_;  // last: its thread posts to messages_
};

}  // namespace

std::unique_ptr<DiscoverySource> make_kubernetes_discovery(KubernetesDiscoveryConfig config,
                                                           KubernetesDiscoveryOptions options,
                                                           base::Registry& registry) {
  return std::make_unique<KubernetesDiscovery>(std::move(config), std::move(options), registry);
}

}  // namespace vagt::scrape
