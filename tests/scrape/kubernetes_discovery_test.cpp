// The life of a watch: lists in pages, events, ends, 410 Gone, lies and silence.
#include "scrape/discovery/kubernetes_discovery.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/scrape/discovery_sink.h"
#include "tests/scrape/fake_cluster.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::FakeCluster;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPods = "/api/v1/pods";

std::string pod(const std::string& name, const std::string& ip, const std::string& more = "") {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ml","uid":"u-{}"{}}},)"
                     R"("spec":{{"nodeName":"n1","containers":[{{"name":"dcgm","image":"dcgm:4",)"
                     R"("ports":[{{"name":"http","containerPort":9400,"protocol":"TCP"}}]}}]}},)"
                     R"("status":{{"podIP":"{}","phase":"Running"}}}})",
                     name, name, more, ip);
}

KubernetesDiscoveryOptions quick() {
  KubernetesDiscoveryOptions options;
  options.backoff = 10ms, options.longest_backoff = 50ms, options.publish_pause = 0ms;
  options.watch_time = 30s, options.grace = 1s, options.list_timeout = 2s;
  options.page_size = 2;
  options.access.environment = [](const char*) { return std::string(); };
  return options;
}

class KubernetesDiscoveryTest : public ::testing::Test {
 protected:
  test::RunningSource& start(const KubernetesDiscoveryOptions& options = quick()) {
    config.api_server = cluster.url();
    source =
        std::make_unique<test::RunningSource>(make_kubernetes_discovery(config, options, registry));
    return *source;
  }
  ~KubernetesDiscoveryTest() override {
    source.reset();
    cluster.stop();
  }

  FakeCluster cluster;
  base::Registry registry;
  KubernetesDiscoveryConfig config;
  std::unique_ptr<test::RunningSource> source;
};

TEST_F(KubernetesDiscoveryTest, ListsInPagesThenWatches) {
  for (int i = 1; i <= 5; ++i)
    cluster.put(kPods, fmt::format("p{}", i),
                pod(fmt::format("p{}", i), fmt::format("10.0.0.{}", i)));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait([](const auto& addresses, const std::string& error) {
    return addresses.size() == 5 && error.empty();
  })) << run.sink.error();
  EXPECT_EQ(cluster.count("limit=2"), 3u);
  EXPECT_EQ(cluster.count("continue="), 2u);
  cluster.put(kPods, "p6", pod("p6", "10.0.0.6"));
  ASSERT_TRUE(
      run.sink.wait([](const auto& addresses, const auto&) { return addresses.size() == 6; }));
  cluster.put(kPods, "p6", pod("p6", "10.0.0.66"));
  ASSERT_TRUE(run.sink.wait(
      [](const auto& addresses, const auto&) { return addresses.back() == "10.0.0.66:9400"; }));
  for (const char* name : {"p1", "p2", "p3", "p4", "p5"}) cluster.remove(kPods, name);
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.66:9400"}));
  EXPECT_EQ(cluster.count("limit=2"), 3u) << "no second list";
  EXPECT_THAT(cluster.requests(),
              Contains(AllOf(HasSubstr("watch=true"), HasSubstr("allowWatchBookmarks=true"),
                             HasSubstr("timeoutSeconds=30"))));
  const auto events = [this](const char* event) {
    return registry
        .counter("prometheus_sd_kubernetes_events_total", "",
                 vagt::Labels::of({{"role", "pod"}, {"event", event}}))
        .value();
  };
  EXPECT_EQ(events("add"), 6);
  EXPECT_EQ(events("update"), 1);
  EXPECT_EQ(events("delete"), 5);
}

TEST_F(KubernetesDiscoveryTest, AWatchThatEndsIsResumedWhereItStood) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  for (const bool is_clean : {true, false}) {
    const size_t watches = cluster.count("watch=true");
    for (int i = 0; i < 1000 && cluster.count("watch=true") < std::max<size_t>(watches, 1); ++i)
      std::this_thread::sleep_for(1ms);
    cluster.bookmark(kPods);
    cluster.put(kPods, "x", pod("x", "10.0.0.9"));
    ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400", "10.0.0.9:9400"}));
    cluster.end_watches(is_clean);
    cluster.remove(kPods, "x");
    ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << is_clean << run.sink.error();
  }
  for (int i = 0; i < 5000 && cluster.count("watch=true") < 3; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_GE(cluster.count("watch=true"), 3u);
  EXPECT_EQ(cluster.count("limit="), 1u) << "resumed, not listed again";
}

TEST_F(KubernetesDiscoveryTest, ABookmarkMovesTheVersionOn) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  const std::string version = cluster.bookmark(kPods);
  // The watch may not stand yet: it is ended until one begins where the bookmark said.
  for (int i = 0; i < 500 && cluster.count("resourceVersion=" + version) == 0; ++i) {
    cluster.end_watches(true);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_GE(cluster.count("resourceVersion=" + version), 1u);
  EXPECT_EQ(cluster.count("limit="), 1u);
}

TEST_F(KubernetesDiscoveryTest, GoneInTheStreamMeansANewList) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  cluster.put(kPods, "p2", pod("p2", "10.0.0.2"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400", "10.0.0.2:9400"}));
  cluster.remove_quietly(kPods, "p1");
  cluster.say(kPods,
              R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.2:9400"})) << run.sink.error();
}

TEST_F(KubernetesDiscoveryTest, GoneAsAnAnswerMeansANewListToo) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  cluster.remove_quietly(kPods, "p1");
  cluster.set_mood(FakeCluster::Mood::Gone);
  cluster.end_watches(true);
  ASSERT_TRUE(run.sink.wait([](const auto& addresses, const auto&) { return addresses.empty(); }));
  cluster.set_mood(FakeCluster::Mood::Fine);
  cluster.put(kPods, "p3", pod("p3", "10.0.0.3"));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.3:9400"})) << run.sink.error();
}

TEST_F(KubernetesDiscoveryTest, ADeadServerKeepsTheLastTargets) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  for (const auto& [mood, words] : {std::pair{FakeCluster::Mood::Refusing, "HTTP status 403"},
                                    std::pair{FakeCluster::Mood::Dropping, "EOF"},
                                    std::pair{FakeCluster::Mood::Lying, "not JSON"}}) {
    cluster.set_mood(mood);
    cluster.end_watches(false);
    ASSERT_TRUE(run.sink.wait_error(words)) << words << ": " << run.sink.error();
    EXPECT_EQ(run.sink.addresses(), std::vector<std::string>{"10.0.0.1:9400"}) << words;
    cluster.set_mood(FakeCluster::Mood::Fine);
    ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << words;
  }
  cluster.put(kPods, "p2", pod("p2", "10.0.0.2"));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400", "10.0.0.2:9400"}));
  EXPECT_GE(registry.counter("prometheus_sd_kubernetes_failures_total", "").value(), 3);
}

TEST_F(KubernetesDiscoveryTest, ASilentServerIsGivenUp) {
  KubernetesDiscoveryOptions options = quick();
  options.watch_time = 100ms, options.grace = 100ms, options.list_timeout = 200ms;
  cluster.set_mood(FakeCluster::Mood::Hanging);
  auto& run = start(options);
  ASSERT_TRUE(run.sink.wait_error("context deadline exceeded")) << run.sink.error();
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  cluster.set_mood(FakeCluster::Mood::Fine);
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << run.sink.error();
}

TEST_F(KubernetesDiscoveryTest, NonsenseInAWatchIsNoEvent) {
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  for (const char* line : {"{", "[]", R"({"type":"ADDED"})", R"({"type":"WHAT","object":{}})",
                           R"({"type":"ADDED","object":{"metadata":{}}})", "<html>"}) {
    cluster.say(kPods, line);
    ASSERT_TRUE(run.sink.wait_error("pods: ")) << line;
    ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << line << run.sink.error();
  }
}

TEST_F(KubernetesDiscoveryTest, NamespacesAndSelectorsReachTheServer) {
  config.namespaces = {"ml", "ops", "ml"};
  config.selectors = {{KubernetesRole::Pod, "app=dcgm,tier!=x", "status.phase=Running"}};
  cluster.put("/api/v1/namespaces/ml/pods", "p1", pod("p1", "10.0.0.1"));
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  EXPECT_THAT(cluster.requests(),
              Contains(HasSubstr("GET /api/v1/namespaces/ops/pods?limit=2&labelSelector="
                                 "app%3Ddcgm%2Ctier%21%3Dx&fieldSelector=status.phase%3DRunning")));
  EXPECT_THAT(cluster.requests(), Not(Contains(HasSubstr("GET /api/v1/pods"))));
}

TEST_F(KubernetesDiscoveryTest, EndpointsFollowTheirServicesAndPods) {
  config.role = KubernetesRole::Endpoints;
  const std::string endpoints =
      R"({"metadata":{"name":"dcgm","namespace":"ml"},"subsets":[{"ports":[{"name":"m",)"
      R"("port":9400,"protocol":"TCP"}],"addresses":[{"ip":"10.0.0.1","targetRef":)"
      R"({"kind":"Pod","namespace":"ml","name":"p1"}}]}]})";
  cluster.put("/api/v1/endpoints", "dcgm", endpoints);
  auto& run = start();
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << run.sink.error();
  const auto label = [&run](const std::string& name) {
    const auto labels = test::labels_at(run.sink.groups(), "10.0.0.1:9400");
    const auto found = labels.find(name);
    return found == labels.end() ? std::string("-") : found->second;
  };
  EXPECT_EQ(label("__meta_kubernetes_pod_name"), "-");
  cluster.put(kPods, "p1", pod("p1", "10.0.0.1"));
  ASSERT_TRUE(run.sink.wait([](const auto& addresses, const auto&) { return !addresses.empty(); }));
  for (int i = 0; i < 2000 && label("__meta_kubernetes_pod_name") == "-"; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(label("__meta_kubernetes_pod_name"), "p1");
  cluster.put("/api/v1/services", "dcgm",
              R"({"metadata":{"name":"dcgm","namespace":"ml","labels":{"team":"ml"}}})");
  for (int i = 0; i < 2000 && label("__meta_kubernetes_service_label_team") == "-"; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(label("__meta_kubernetes_service_label_team"), "ml");
}

TEST(KubernetesAccess, AServiceAccountIsFound) {
  const std::string folder = ::testing::TempDir() + "account." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/namespace") << "ops\n";
  kubernetes::AccessOptions options;
  options.service_account = folder;
  options.environment = [](const char* name) {
    return std::string(std::string(name) == "KUBERNETES_SERVICE_HOST" ? "fd00::1" : "6443");
  };
  KubernetesDiscoveryConfig config;
  config.own_namespace = true;
  const auto access = kubernetes::find_access(config, options);
  ASSERT_TRUE(access.ok()) << access.error().message();
  EXPECT_EQ(access->url, "https://[fd00::1]:6443");
  EXPECT_EQ(access->own_namespace, "ops");
  EXPECT_EQ(access->http.authorization->credentials_file, folder + "/token");
  EXPECT_EQ(access->http.tls.ca_file, folder + "/ca.crt");
  options.environment = [](const char*) { return std::string(); };
  EXPECT_THAT(kubernetes::find_access(config, options).error().message(),
              HasSubstr("KUBERNETES_SERVICE_HOST"));
  std::filesystem::remove_all(folder);
}

TEST(KubernetesAccess, AKubeconfigIsRead) {
  const std::string path = ::testing::TempDir() + "kubeconfig." + std::to_string(::getpid());
  std::ofstream(path) << R"(
apiVersion: v1
current-context: lab
contexts:
- {name: other, context: {cluster: a, user: b}}
- {name: lab, context: {cluster: c1, user: u1}}
clusters:
- name: c1
  cluster: {server: "https://k8s.example:6443/", certificate-authority-data: UEVN}
users:
- name: u1
  user: {client-certificate: cert.pem, client-key-data: S0VZIQ==, token: t0ken}
)";
  KubernetesDiscoveryConfig config;
  config.kubeconfig_file = path;
  auto access = kubernetes::find_access(config, {});
  ASSERT_TRUE(access.ok()) << access.error().message();
  EXPECT_EQ(access->url, "https://k8s.example:6443");
  EXPECT_EQ(access->http.tls.ca, "PEM");
  EXPECT_EQ(access->http.tls.key.reveal(), "KEY!");
  EXPECT_EQ(access->http.tls.cert_file,
            std::filesystem::path(path).parent_path().string() + "/cert.pem");
  EXPECT_EQ(access->http.authorization->credentials.reveal(), "t0ken");
  std::ofstream(path) << "current-context: nowhere\n";
  EXPECT_THAT(kubernetes::find_access(config, {}).error().message(),
              HasSubstr("contexts holds no \"nowhere\""));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace vagt::scrape
