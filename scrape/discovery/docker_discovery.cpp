#include "scrape/discovery/docker_discovery.h"

#include "base/json_writer.h"
#include "net/url.h"

namespace vagt::scrape {
namespace {

constexpr uint64_t kMaxAnswerBytes = 64u << 20;

struct Base {
  std::string url;  // without a slash at its end
  net::HttpClientConfig http;
};

Base base_of(const DockerDiscoveryConfig& config) {
  Base base{config.host, config.http};
  if (config.host.starts_with("unix://")) {
    base.http = {};
    base.http.unix_socket = config.host.substr(7);
    base.url = "http://docker";
  } else if (config.host.starts_with("tcp://")) {
    const net::TlsOptions& tls = config.http.tls;
    const bool has_tls = !tls.ca_file.empty() || !tls.ca.empty() || !tls.cert_file.empty() ||
                         !tls.cert.empty() || tls.insecure_skip_verify;
    base.url = (has_tls ? "https://" : "http://") + config.host.substr(6);
  }
  while (base.url.ends_with('/')) base.url.pop_back();
  return base;
}

// {"name":{"value":true}}, as the API wants it.
std::string filters_text(const std::vector<DiscoveryFilter>& filters) {
  std::map<std::string, std::vector<std::string>> by_name;
  for (const DiscoveryFilter& filter : filters) {
    auto& values = by_name[filter.name];
    values.insert(values.end(), filter.values.begin(), filter.values.end());
  }
  std::string out;
  for (const auto& [name, values] : by_name) {
    out += out.empty() ? "{" : ",";
    base::append_json_string(out, name);
    out += ":{";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out += ',';
      base::append_json_string(out, values[i]);
      out += ":true";
    }
    out += '}';
  }
  return out.empty() ? out : out + "}";
}

class DockerDiscovery final : public RefreshSource {
 public:
  DockerDiscovery(DockerDiscoveryConfig config, std::string user_agent)
      : config_(std::move(config)),
        base_(base_of(config_)),
        profile_(std::make_shared<const net::HttpClientConfig>(base_.http)),
        client_({std::move(user_agent), 0, 0}) {}
  std::string_view kind() const override { return "docker"; }

 protected:
  Duration refresh_interval() const override { return config_.refresh_interval; }

  void refresh(std::stop_token stop, DiscoverySink& sink) override {
    auto groups = ask(stop);
    if (stop.stop_requested()) return;
    groups ? sink.publish(std::move(*groups), {}) : sink.publish(std::nullopt, groups.error());
  }

 private:
  Result<net::HttpResponse> get(const std::string& path, const std::stop_token& stop) {
    net::HttpRequest request;
    request.url = Secret(base_.url + path);
    request.timeout = std::min<Duration>(config_.refresh_interval, std::chrono::minutes(1));
    request.max_body_bytes = kMaxAnswerBytes;
    VAGT_TRY(net::HttpResponse answer, client_.fetch(std::move(request), profile_, stop));
    if (answer.status == 200) return answer;
    return Status(Code::Unavailable,
                  "Docker answered HTTP status " + std::to_string(answer.status) + " to " + path);
  }

  Result<TargetGroups> ask(const std::stop_token& stop) {
    // The engine says which version of its API it speaks; older engines speak no newer one.
    VAGT_TRY(const net::HttpResponse ping, get("/_ping", stop));
    std::string version(ping.header("Api-Version"));
    if (version.find_first_not_of("0123456789.") != std::string::npos) version.clear();
    const std::string prefix = version.empty() ? "" : "/v" + version;
    const std::string filters = filters_text(config_.filters);
    const std::string query = filters.empty() ? "" : "?filters=" + net::url_encode(filters);
    VAGT_TRY(const net::HttpResponse containers,
             get(prefix + "/containers/json" + query, stop).at("error while listing containers"));
    VAGT_TRY(const net::HttpResponse networks,
             get(prefix + "/networks", stop).at("error while computing network labels"));
    return docker_targets(config_, containers.body, networks.body);
  }

  const DockerDiscoveryConfig config_;
  const Base base_;
  const net::HttpClient::Profile profile_;
  net::HttpClient client_;
};

}  // namespace

std::unique_ptr<DiscoverySource> make_docker_discovery(DockerDiscoveryConfig config,
                                                       std::string user_agent) {
  return std::make_unique<DockerDiscovery>(std::move(config), std::move(user_agent));
}

}  // namespace vagt::scrape
