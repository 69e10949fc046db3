// The *_sd_configs sections: what is read, what is refused and in which words.
#include <gmock/gmock.h>

#include "config/prometheus_config.h"
#include "tests/support/status_matchers.h"

namespace vagt::config {
namespace {

using namespace std::chrono_literals;
using scrape::KubernetesRole;
using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Result<PrometheusConfig> load(const std::string& kind, const std::string& item) {
  return parse_prometheus_config(
      "scrape_configs:\n- job_name: j\n  " + kind + "_sd_configs:\n  - " + item + "\n",
      "/etc/p/prometheus.yml");
}
scrape::DiscoveryConfig read(const std::string& kind, const std::string& item) {
  const auto config = load(kind, item);
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config ? config->scrape_configs[0].discovery : scrape::DiscoveryConfig();
}

TEST(Discovery, Dns) {
  const auto dns =
      read("dns", "{names: [a, b], type: aaaa, port: 9100, refresh_interval: 15s}").dns;
  ASSERT_THAT(dns, SizeIs(1));
  EXPECT_THAT(dns[0].config.names, ElementsAre("a", "b"));
  EXPECT_EQ(dns[0].config.type, "AAAA");
  EXPECT_EQ(dns[0].config.port, 9100);
  EXPECT_EQ(dns[0].config.refresh_interval, 15s);
  const auto standard = read("dns", "{names: [a]}").dns[0].config;
  EXPECT_EQ(standard.type, "SRV");
  EXPECT_EQ(standard.refresh_interval, 30s);
}

TEST(Discovery, Docker) {
  const auto docker = read("docker", R"({host: "unix:///var/run/docker.sock", port: 9100,
    host_networking_host: h, match_first_network: false, filters: [{name: label, values: [a, b]}]})");
  ASSERT_THAT(docker.docker, SizeIs(1));
  const auto& config = docker.docker[0].config;
  EXPECT_EQ(config.host, "unix:///var/run/docker.sock");
  EXPECT_EQ(config.port, 9100);
  EXPECT_FALSE(config.match_first_network);
  EXPECT_THAT(config.filters[0].values, ElementsAre("a", "b"));
}

TEST(Discovery, Consul) {
  const auto consul = read("consul", R"({server: "c:8500", path_prefix: /x, token: t, datacenter: d,
    namespace: n, partition: p, scheme: https, services: [a], tags: [b], node_meta: {k: v},
    tag_separator: ";", filter: f, health_filter: g, allow_stale: false, refresh_interval: 1m,
    username: u, password: w})");
  ASSERT_THAT(consul.consul, SizeIs(1));
  const auto& config = consul.consul[0].config;
  EXPECT_EQ(config.token.reveal(), "t");
  EXPECT_EQ(config.http.basic_auth->username, "u");
  EXPECT_EQ(config.node_meta.at("k"), "v");
  EXPECT_EQ(config.filter + config.health_filter, "fg");
  EXPECT_FALSE(config.allow_stale);
}

TEST(Discovery, Kubernetes) {
  const auto kubernetes = read("kubernetes", R"({role: endpoints, api_server: "https://k:6443",
    namespaces: {names: [a, b]}, bearer_token_file: t, tls_config: {ca_file: ca},
    selectors: [{role: pod, label: "a=b", field: "c=d"}, {role: service, label: x}],
    attach_metadata: {node: true, namespace: true}})");
  ASSERT_THAT(kubernetes.kubernetes, SizeIs(1));
  const auto& config = kubernetes.kubernetes[0].config;
  EXPECT_EQ(config.role, KubernetesRole::Endpoints);
  EXPECT_THAT(config.namespaces, ElementsAre("a", "b"));
  EXPECT_EQ(config.selectors[0].label, "a=b");
  EXPECT_TRUE(config.attach_node && config.attach_namespace);
  EXPECT_EQ(config.http.authorization->credentials_file, "/etc/p/t");
  EXPECT_EQ(
      read("kubernetes", "{role: node, kubeconfig_file: k}").kubernetes[0].config.kubeconfig_file,
      "/etc/p/k");
}

TEST(Discovery, WrittenOutDefaultsAreNoHttpOptions) {
  for (const char* more : {"", ", kubeconfig_file: k"}) {
    const auto found = read("kubernetes", "{role: pod, follow_redirects: true, enable_http2: true" +
                                              std::string(more) + "}");
    EXPECT_EQ(found.kubernetes.size(), 1u);
  }
}

TEST(Discovery, EqualSectionsHaveEqualFingerprints) {
  const auto print = [](const std::string& item) { return read("dns", item).dns[0].fingerprint; };
  EXPECT_EQ(print("{names: [a], type: A, port: 1}"), print("{names: [a], type: A, port: 1}"));
  EXPECT_NE(print("{names: [a], type: A, port: 1}"), print("{names: [a], type: A, port: 2}"));
}

TEST(Discovery, RefusedInPrometheusWords) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"dns", "{type: A}", "DNS-SD config must contain at least one SRV record name"},
      {"dns", "{names: [a], type: A}", "a port is required in DNS-SD configs for all record types"},
      {"dns", "{names: [a], type: TXT}", "invalid DNS-SD records type TXT"},
      {"dns", "{names: [a], port: 70000}", "port 70000"},
      {"docker", "{port: 1}", "host missing"},
      {"docker", "{host: ftp}", "unable to parse docker host \"ftp\""},
      {"docker", "{host: 'tcp://x', filters: [{name: a}]}", "filter values cannot be empty"},
      {"consul", "{server: ' '}", "consul SD configuration requires a server address"},
      {"consul", "{username: a, basic_auth: {username: b}}",
       "at most one of consul SD configuration username and password and basic auth"},
      {"consul", "{token: a, authorization: {credentials: b}}",
       "at most one of consul SD token, authorization, or oauth2 can be configured"},
      {"kubernetes", "{api_server: 'http://x'}", "role missing (one of: pod, service, endpoints"},
      {"kubernetes", "{role: pod, follow_redirects: false}",
       "to use custom HTTP client configuration please provide the 'api_server' URL explicitly"},
      {"dns", "{names: [a], type: A, port: 1, refresh_interval: 0s}",
       "refresh_interval must be greater than 0"},
      {"docker", "{host: 'unix:///d', refresh_interval: 0s}",
       "refresh_interval must be greater than 0"},
      {"http", "{url: 'http://x', refresh_interval: 0s}",
       "refresh_interval must be greater than 0"},
      {"kubernetes", "{role: job}", "unknown Kubernetes SD role \"job\""},
      {"kubernetes", "{role: pod, bearer_token: x}",
       "to use custom HTTP client configuration please provide the 'api_server' URL explicitly"},
      {"kubernetes", "{role: pod, kubeconfig_file: k, api_server: 'http://x'}",
       "cannot use 'kubeconfig_file' and 'api_server' simultaneously"},
      {"kubernetes", "{role: pod, kubeconfig_file: k, bearer_token: x}",
       "cannot use a custom HTTP client configuration together with 'kubeconfig_file'"},
      {"kubernetes", "{role: pod, api_server: 'http://x', namespaces: {own_namespace: true}}",
       "cannot use 'api_server' and 'namespaces.own_namespace' simultaneously"},
      {"kubernetes", "{role: pod, selectors: [{role: pod}, {role: pod}]}",
       "duplicated selector role: pod"},
      {"kubernetes", "{role: node, selectors: [{role: pod}]}",
       "node role supports only node selectors"},
      {"kubernetes", "{role: pod, namespaces: {name: [x]}}", "did you mean names"},
      {"dns", "{nmaes: [a]}", "did you mean names"},
      {"azure", "{tenant_id: x}", "azure SD configuration requires a subscription_id"},
      {"azure", "{subscription_id: x, authentication_method: y}", "unknown authentication_method"},
      {"ec2", "{regoin: x}", "did you mean region"},
      {"ec2", "{port: x}", "/etc/p/prometheus.yml:4:"},
      {"gce", "{project: x}", "GCE SD configuration requires a zone"},
      {"hetzner", "{role: x}", "unknown role \"x\", expected one of: robot hcloud"},
      {"marathon", "{}", "marathon_sd: must contain at least one Marathon server"},
      {"nerve", "{servers: [a]}", "nerve SD config must contain at least one path"},
      {"openstack", "{role: instance}", "openstack SD configuration requires a region"},
      {"dockerswarm", "{host: x}", "role missing (one of: tasks, services, nodes)"},
      {"triton", "{account: a, dns_suffix: b}", "triton SD configuration requires an endpoint"},
      {"uyuni", "{server: a, username: b}", "Uyuni SD configuration requires a password"},
  };
  for (const auto& [kind, item, words] : cases) {
    const auto config = load(kind, item);
    ASSERT_FALSE(config.ok()) << kind << " " << item;
    EXPECT_THAT(config.error().message(), HasSubstr(words)) << kind << " " << item;
    EXPECT_THAT(config.error().message(), HasSubstr("/etc/p/prometheus.yml:")) << item;
  }
}

TEST(Discovery, KindsThatDoNotRunAreSaidAndTheRestRuns) {
  const auto config = parse_prometheus_config(R"(
scrape_configs:
- job_name: j
  static_configs: [{targets: [a]}]
  aws_sd_configs: [{role: ecs, region: r, something_new: 1}]
  gce_sd_configs: [{project: p, zone: z}]
  linode_sd_configs: [{authorization: {credentials: x}, port: 80, refresh_interval: 1m}]
  vultr_sd_configs: []
)",
                                              "p.yml");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->scrape_configs[0].discovery.unsupported,
              ElementsAre("aws_sd_configs", "gce_sd_configs", "linode_sd_configs"));
  EXPECT_THAT(config->notices, SizeIs(3));
  EXPECT_THAT(config->scrape_configs[0].discovery.static_groups, SizeIs(1));
}

TEST(Discovery, SecretsAreMasked) {
  const auto config = parse_prometheus_config(R"(
scrape_configs:
- job_name: j
  consul_sd_configs: [{server: 'c', token: s3cret-1}]
  openstack_sd_configs: [{role: instance, region: r, password: s3cret-2, application_credential_secret: s3cret-3}]
  ec2_sd_configs: [{secret_key: s3cret-4}]
  ovhcloud_sd_configs: [{application_key: k, application_secret: s3cret-5, consumer_key: s3cret-6, service: vps}]
  marathon_sd_configs: [{servers: [m], auth_token: s3cret-7}]
  azure_sd_configs: [{subscription_id: a, client_secret: s3cret-8}]
  uyuni_sd_configs: [{server: u, username: n, password: s3cret-9}]
  stackit_sd_configs: [{project: p, service_account_key: s3cret-10, private_key: s3cret-11}]
  http_sd_configs: [{url: 'http://u:s3cret-12@h/', proxy_url: 'http://u:s3cret-13@p/'}]
  http_headers: {X: {secrets: [s3cret-14]}}
  params: {token: [not-hidden]}
remote_write:
- url: http://u:s3cret-15@w/
  sigv4: {access_key: a, secret_key: s3cret-16}
  azuread: {oauth: {client_id: c, client_secret: s3cret-17, tenant_id: t}}
)",
                                              "p.yml");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->text, ::testing::Not(HasSubstr("s3cret"))) << config->text;
  EXPECT_THAT(config->text, HasSubstr("not-hidden"));
}

}  // namespace
}  // namespace vagt::config
