#include "scrape/discovery/kubernetes_access.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/base64.h"
#include "base/yaml.h"

namespace vagt::scrape::kubernetes {
namespace {

using base::YamlNode;

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::io(fmt::format("open {}: cannot be read", path));
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Without URL and file: the pod's own service account, as every cluster gives one.
Result<Access> from_service_account(bool wants_namespace, const AccessOptions& options) {
  const std::string host = options.environment("KUBERNETES_SERVICE_HOST");
  const std::string port = options.environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Status::invalid(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT must be defined");
  }
  Access access;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  access.url = fmt::format("https://{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
  access.http.authorization.emplace().credentials_file = options.service_account + "/token";
  access.http.tls.ca_file = options.service_account + "/ca.crt";
  if (!wants_namespace) return access;
  VAGT_TRY(access.own_namespace, read_text(options.service_account + "/namespace")
                                     .at("could not determine the pod's namespace"));
  if (access.own_namespace.empty())
    return Status::invalid("could not read own namespace name (empty file)");
  return access;
}

Result<std::string> decoded(const YamlNode& node) {
  auto text = base::decode_base64(node.scalar());
  if (!text) return node.error("not base64");
  return std::move(*text);
}

// The member `kind` of the entry called `name` in a list of {name: …, kind: {…}}.
Result<const YamlNode*> named(const YamlNode& root, std::string_view list, std::string_view kind,
                              const std::string& name) {
  const YamlNode* entries = root.find(list);
  if (entries != nullptr) {
    for (const YamlNode& entry : entries->items()) {
      const YamlNode* at = entry.is_map() ? entry.find("name") : nullptr;
      const YamlNode* found = entry.is_map() ? entry.find(kind) : nullptr;
      if (at != nullptr && found != nullptr && found->is_map() && at->scalar() == name)
        return found;
    }
  }
  return root.error(fmt::format("{} holds no {}", list, quote(name)));
}

std::string text_of(const YamlNode& node, std::string_view key) {
  const YamlNode* at = node.find(key);
  return at != nullptr ? at->scalar() : "";
}

class KubeConfig {
 public:
  explicit KubeConfig(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path().string()) {}

  Result<Access> read(const YamlNode& root) const {
    if (!root.is_map()) return root.error("expected a kubeconfig file");
    VAGT_TRY(const YamlNode* context,
             named(root, "contexts", "context", text_of(root, "current-context")));
    VAGT_TRY(const YamlNode* cluster,
             named(root, "clusters", "cluster", text_of(*context, "cluster")));
    VAGT_TRY(const YamlNode* user, named(root, "users", "user", text_of(*context, "user")));
    Access access;
    access.url = text_of(*cluster, "server");
    if (access.url.empty()) return cluster->error("the cluster has no server");
    net::TlsOptions& tls = access.http.tls;
    tls.insecure_skip_verify = text_of(*cluster, "insecure-skip-tls-verify") == "true";
    tls.server_name = text_of(*cluster, "tls-server-name");
    access.http.proxy_url = text_of(*cluster, "proxy-url");
    VAGT_CHECK_OK(file_or_data(*cluster, "certificate-authority", tls.ca_file, tls.ca));
    VAGT_CHECK_OK(file_or_data(*user, "client-certificate", tls.cert_file, tls.cert));
    std::string key;
    VAGT_CHECK_OK(file_or_data(*user, "client-key", tls.key_file, key));
    tls.key = Secret(std::move(key));
    for (const char* plugin : {"exec", "auth-provider"}) {
      if (const YamlNode* at = user->find(plugin))
        return at->error(fmt::format("kubeconfig: {} is not supported", plugin));
    }
    add_credentials(*user, access.http);
    return access;
  }

 private:
  std::string resolve(const std::string& path) const {
    return path.empty() || path.front() == '/' ? path : folder_ + "/" + path;
  }

  Status file_or_data(const YamlNode& node, const std::string& key, std::string& file,
                      std::string& data) const {
    file = resolve(text_of(node, key));
    if (const YamlNode* at = node.find(key + "-data")) {
      VAGT_TRY(data, decoded(*at));
      file.clear();
    }
    return {};
  }

  void add_credentials(const YamlNode& user, net::HttpClientConfig& http) const {
    const std::string token = text_of(user, "token"), file = resolve(text_of(user, "tokenFile"));
    if (!token.empty() || !file.empty()) {
      net::Authorization& authorization = http.authorization.emplace();
      authorization.credentials = Secret(token);
      authorization.credentials_file = file;
    } else if (!text_of(user, "username").empty()) {
      net::BasicAuth& basic = http.basic_auth.emplace();
      basic.username = text_of(user, "username");
      basic.password = Secret(text_of(user, "password"));
    }
  }

  const std::string folder_;
};

}  // namespace

Result<Access> find_access(const KubernetesDiscoveryConfig& config, const AccessOptions& options) {
  Access access;
  if (!config.kubeconfig_file.empty()) {
    VAGT_TRY(const YamlNode root, base::load_yaml_file(config.kubeconfig_file));
    VAGT_TRY(access, KubeConfig(config.kubeconfig_file).read(root));
  } else if (config.api_server.empty()) {
    VAGT_TRY(access, from_service_account(config.own_namespace, options));
  } else {
    access.url = config.api_server;
    access.http = config.http;
  }
  while (access.url.ends_with('/')) access.url.pop_back();
  return access;
}

}  // namespace vagt::scrape::kubernetes
