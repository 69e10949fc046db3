#include "scrape/discovery/consul_discovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/mailbox.h"
#include "net/url.h"
#include "scrape/discovery/json_fields.h"

namespace vagt::scrape {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t kMaxAnswerBytes = 64u << 20;
// Between two questions of one kind, whatever refresh_interval says: an answer without an index
// comes at once.
constexpr Duration kLeastPause = std::chrono::milliseconds(100);
constexpr Duration kIdle = std::chrono::minutes(10);

// One blocking query: the list of services ("") or the instances of one.
struct Watch {
  std::string service;
  uint64_t id = 0;
  uint64_t index = 0;  // Consul's, of the last answer; 0: answer at once
  bool is_asking = false;
  steady_clock::time_point ask_at{};
  Status status;
};

struct Reply {
  uint64_t watch = 0;
  Result<net::HttpResponse> answer;
};

class ConsulDiscovery final : public DiscoverySource {
 public:
  ConsulDiscovery(ConsulDiscoveryConfig config, ConsulDiscoveryOptions options,
                  base::Registry& registry)
      : config_(std::move(config)),
        options_(std::move(options)),
        failures_(registry.counter("prometheus_sd_consul_rpc_failures_total",
                                   "Requests to Consul that failed.")),
        profile_(std::make_shared<const net::HttpClientConfig>(config_.http)),
        datacenter_(config_.datacenter),
        client_({options_.user_agent, 0, 0}) {}
  std::string_view kind() const override { return "consul"; }

  void run(std::stop_token stop, DiscoverySink& sink) override {
    while (datacenter_.empty()) {
      const Status status = learn_datacenter(stop);
      if (stop.stop_requested()) return;
      if (status.ok()) break;
      failures_.add();
      sink.publish(std::nullopt, status);
      if (!wait_for(stop, options_.retry)) return;
    }
    // With tags, only services that carry them are worth a question of their own.
    const bool follows_catalog = config_.services.empty() || !config_.tags.empty();
    if (follows_catalog) {
      add_watch("");
    } else {
      for (const std::string& service : config_.services) add_watch(service);
    }
    while (!stop.stop_requested()) {
      const auto wake = ask_due();
      bool has_news = false;
      for (Reply& reply : replies_.wait_until(wake, stop)) has_news |= take(reply);
      if (has_news && !stop.stop_requested()) publish(sink);
    }
  }

 private:
  void add_watch(const std::string& service) {
    Watch watch;
    watch.service = service;
    watch.id = next_id_++;
    watches_.emplace(watch.id, std::move(watch));
  }

  net::HttpRequest request(const std::string& path) const {
    net::HttpRequest request;
    request.url = Secret(
        fmt::format("{}://{}{}{}", config_.scheme, config_.server, config_.path_prefix, path));
    if (!config_.token.empty()) request.headers = {{"X-Consul-Token", config_.token.reveal()}};
    request.timeout = options_.wait + options_.wait / 16 + std::chrono::seconds(15);
    request.max_body_bytes = kMaxAnswerBytes;
    return request;
  }

  static Status check(const net::HttpResponse& answer) {
    if (answer.status == 200) return {};
    return {Code::Unavailable, fmt::format("Unexpected response code: {} ({})", answer.status,
                                           answer.body.substr(0, 200))};
  }

  Status learn_datacenter(const std::stop_token& stop) {
    net::HttpRequest question = request("/v1/agent/self");
    question.timeout = std::chrono::seconds(30);
    VAGT_TRY(const net::HttpResponse answer, client_.fetch(std::move(question), profile_, stop));
    VAGT_CHECK_OK(check(answer));
    VAGT_TRY(const boost::json::value self, parse_json(answer.body));
    datacenter_ = json_text(self, "Config.Datacenter");
    return datacenter_.empty()
               ? Status(Code::Corruption, "invalid value for Config.Datacenter of the agent")
               : Status();
  }

  std::string query_of(const Watch& watch) const {
    std::string query = fmt::format("?wait={}ms&index={}", options_.wait.count(), watch.index);
    const auto add = [&query](std::string_view name, const std::string& text) {
      if (!text.empty()) query += fmt::format("&{}={}", name, net::url_encode(text));
    };
    add("dc", config_.datacenter);
    add("ns", config_.consul_namespace);
    add("partition", config_.partition);
    for (const auto& [name, text] : config_.node_meta) add("node-meta", name + ":" + text);
    add("filter", watch.service.empty() ? config_.filter : config_.health_filter);
    if (!watch.service.empty()) {
      for (const std::string& tag : config_.tags) add("tag", tag);
    }
    if (config_.allow_stale) query += "&stale=";
    return query;
  }

  // Asks what is due. Returns when the next question is.
  steady_clock::time_point ask_due() {
    const auto now = steady_clock::now();
    auto wake = now + kIdle;
    for (auto& [id, watch] : watches_) {
      if (watch.is_asking) continue;
      if (watch.ask_at > now) {
        wake = std::min(wake, watch.ask_at);
        continue;
      }
      watch.is_asking = true;
      watch.ask_at = now + std::max(config_.refresh_interval, kLeastPause);
      const std::string path = watch.service.empty()
                                   ? "/v1/catalog/services"
                                   : "/v1/health/service/" + net::url_encode(watch.service);
      client_.send(request(path + query_of(watch)), profile_,
                   [this, id = id](Result<net::HttpResponse> answer) {
                     replies_.post({id, std::move(answer)});
                   });
    }
    return wake;
  }

  // True: groups or errors changed.
  bool take(Reply& reply) {
    const auto found = watches_.find(reply.watch);
    if (found == watches_.end()) return false;  // its service is gone
    Watch& watch = found->second;
    watch.is_asking = false;
    Status status = reply.answer.status();
    if (status.ok()) status = check(*reply.answer);
    if (status.ok()) {
      uint64_t index = 0;
      const std::string_view text = reply.answer->header("X-Consul-Index");
      std::from_chars(text.data(), text.data() + text.size(), index);
      const bool was_well = watch.status.ok();
      if (index != 0 && index == watch.index && was_well) return false;  // nothing happened
      // Consul's documentation: an index that goes back starts anew.
      watch.index = index < watch.index ? 0 : index;
      status = watch.service.empty() ? take_services(reply.answer->body)
                                     : take_instances(watch.service, reply.answer->body);
    }
    // take_services() may have erased others; std::map keeps this one where it is.
    if (!status.ok()) {
      failures_.add();
      watch.index = 0;
      watch.ask_at = steady_clock::now() + options_.retry;
      const std::string what = watch.service.empty() ? "services" : "service " + watch.service;
      watch.status = std::move(status).at(what);
      return true;
    }
    watch.status = {};
    return true;
  }

  bool is_wanted(const std::string& service, const boost::json::value& tags) const {
    const auto& wanted = config_.services;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), service) == wanted.end())
      return false;
    return std::all_of(config_.tags.begin(), config_.tags.end(), [&tags](const std::string& tag) {
      const auto& list = json_list(tags, "");
      return std::any_of(list.begin(), list.end(),
                         [&tag](const auto& item) { return json_text(item, "") == tag; });
    });
  }

  Status take_services(std::string_view body) {
    VAGT_TRY(const boost::json::value answer, parse_json(body));
    const auto* services = answer.if_object();
    if (services == nullptr) return {Code::Corruption, "Consul's answer is no map of services"};
    std::map<std::string, bool> wanted;  // to whether it is followed already
    for (const auto& [name, tags] : *services) {
      if (is_wanted(std::string(name), tags)) wanted[std::string(name)] = false;
    }
    std::erase_if(watches_, [&](auto& item) {
      const std::string& service = item.second.service;
      if (service.empty()) return false;
      const auto stays = wanted.find(service);
      if (stays == wanted.end()) groups_.erase(service);
      return stays == wanted.end() ? true : !(stays->second = true);
    });
    for (const auto& [service, is_followed] : wanted) {
      if (!is_followed) add_watch(service);
    }
    return {};
  }

  Status take_instances(const std::string& service, std::string_view body) {
    VAGT_TRY(groups_[service], consul_targets(config_, datacenter_, service, body));
    return {};
  }

  void publish(DiscoverySink& sink) {
    TargetGroups groups;
    for (const auto& [service, group] : groups_) groups.push_back(group);
    const auto failing = std::find_if(watches_.begin(), watches_.end(),
                                      [](const auto& item) { return !item.second.status.ok(); });
    sink.publish(std::move(groups), failing == watches_.end() ? Status() : failing->second.status);
  }

  const ConsulDiscoveryConfig config_;
  const ConsulDiscoveryOptions options_;
  base::Counter& failures_;
  const net::HttpClient::Profile profile_;
  std::string datacenter_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, Watch> watches_;          // by id
  std::map<std::string, TargetGroup> groups_;  // by service
  base::Mailbox<Reply> replies_;
  net::HttpClient client_;  // last: its thread posts to replies_
};

}  // namespace

std::unique_ptr<DiscoverySource> make_consul_discovery(ConsulDiscoveryConfig config,
                                                       ConsulDiscoveryOptions options,
                                                       base::Registry& registry) {
  return std::make_unique<ConsulDiscovery>(std::move(config), std::move(options), registry);
}

}  // namespace vagt::scrape
