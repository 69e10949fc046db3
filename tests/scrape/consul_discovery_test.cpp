#include "scrape/discovery/consul_discovery.h"

#include <gmock/gmock.h>

#include <condition_variable>

#include "tests/scrape/discovery_sink.h"
#include "tests/support/script_server.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::http_answer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string instance(const std::string& id, const std::string& address, int port,
                     const std::string& status = "passing", const std::string& check = "c") {
  return R"({"Node":{"Node":"n1","Address":"10.0.0.9","Datacenter":"dc1","Meta":{"rack-no":"7"},)"
         R"("TaggedAddresses":{"lan":"10.0.0.9"}},"Service":{"ID":")" +
         id + R"(","Service":"gpu","Tags":["a","b"],"Meta":{"team":"ml"},"Address":")" + address +
         R"(","Port":)" + std::to_string(port) + R"(},"Checks":[{"CheckID":")" + check +
         R"(","Status":")" + status + R"("}]})";
}

TEST(ConsulTargets, AllLabels) {
  const ConsulDiscoveryConfig config;
  const auto group =
      consul_targets(config, "dc1", "gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "]");
  ASSERT_TRUE(group.ok()) << group.error().message();
  EXPECT_EQ(group->labels,
            (TextMap{{"__meta_consul_service", "gpu"}, {"__meta_consul_dc", "dc1"}}));
  ASSERT_EQ(group->targets.size(), 1u);
  EXPECT_EQ(group->targets[0], (TextMap{{"__address__", "10.0.0.1:9400"},
                                        {"__meta_consul_address", "10.0.0.9"},
                                        {"__meta_consul_node", "n1"},
                                        {"__meta_consul_namespace", ""},
                                        {"__meta_consul_partition", ""},
                                        {"__meta_consul_tags", ",a,b,"},
                                        {"__meta_consul_service_address", "10.0.0.1"},
                                        {"__meta_consul_service_port", "9400"},
                                        {"__meta_consul_service_id", "gpu-1"},
                                        {"__meta_consul_health", "passing"},
                                        {"__meta_consul_metadata_rack_no", "7"},
                                        {"__meta_consul_service_metadata_team", "ml"},
                                        {"__meta_consul_tagged_address_lan", "10.0.0.9"}}));
}

TEST(ConsulTargets, TheNodesAddressStandsInForTheServices) {
  const auto group = consul_targets({}, "dc1", "gpu", "[" + instance("gpu-1", "", 9400) + "]");
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->targets[0].at("__address__"), "10.0.0.9:9400");
}

TEST(ConsulTargets, TheWorstCheckCounts) {
  const auto health = [](const std::string& status, const std::string& check) {
    return consul_targets({}, "dc1", "gpu", "[" + instance("x", "", 1, status, check) + "]")
        ->targets[0]
        .at("__meta_consul_health");
  };
  EXPECT_EQ(health("warning", "c"), "warning");
  EXPECT_EQ(health("critical", "c"), "critical");
  EXPECT_EQ(health("passing", "_node_maintenance"), "maintenance");
  EXPECT_EQ(health("critical", "_service_maintenance:gpu-1"), "maintenance");
}

TEST(ConsulTargets, WhatIsNoListIsRefused) {
  for (const char* text : {"", "{}", "[{", "null", "<html>"})
    EXPECT_FALSE(consul_targets({}, "dc1", "gpu", text).ok()) << text;
}

// Consul's blocking queries: an answer is held back until the index moves on or the wait is over.
class FakeConsul {
 public:
  FakeConsul() : server_([this](test::Wire& wire) { serve(wire); }) {}
  ~FakeConsul() {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
    moved_.notify_all();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  void set_service(const std::string& name, const std::string& body,
                   const std::string& tags = "[]") {
    base::MutexLock lock(mutex_);
    services_[name] = body, tags_[name] = tags, ++index_;
    moved_.notify_all();
  }
  void erase_service(const std::string& name) {
    base::MutexLock lock(mutex_);
    services_.erase(name), tags_.erase(name), ++index_;
    moved_.notify_all();
  }
  enum class Mood { Fine, Failing, Lying, Dropping };
  void set_mood(Mood mood) {
    base::MutexLock lock(mutex_);
    mood_ = mood, ++index_;
    moved_.notify_all();
  }
  void set_index(uint64_t index) {
    base::MutexLock lock(mutex_);
    index_ = index;
    moved_.notify_all();
  }
  std::vector<std::string> requests() {
    base::MutexLock lock(mutex_);
    return requests_;
  }

 private:
  void serve(test::Wire& wire) {
    while (true) {
      const std::string head = wire.read_until("\r\n\r\n");
      if (!head.ends_with("\r\n\r\n")) return;
      const std::string reply = answer(head);
      if (reply.empty() || !wire.send(reply)) return;
    }
  }
  std::string answer(const std::string& head) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    requests_.push_back(head);
    if (head.starts_with("GET /v1/agent/self"))
      return http_answer(200, R"({"Config":{"Datacenter":"dc7"}})");
    const size_t at = head.find("index=");
    const uint64_t asked = at == std::string::npos ? 0 : std::stoull(head.substr(at + 6));
    if (asked != 0) {
      moved_.wait_for(lock, 5s,
                      [&]() VAGT_NO_THREAD_ANALYSIS { return index_ != asked || is_stopping_; });
    }
    if (is_stopping_ || mood_ == Mood::Dropping) return "";
    if (mood_ == Mood::Failing) return http_answer(500, "No cluster leader");
    const std::string index = "X-Consul-Index: " + std::to_string(index_) + "\r\n";
    if (mood_ == Mood::Lying) return http_answer(200, "<html>login</html>", index);
    if (head.starts_with("GET /v1/catalog/services")) {
      std::string body;
      for (const auto& [name, tags] : tags_)
        body += (body.empty() ? "{\"" : ",\"") + name + "\":" + tags;
      return http_answer(200, body.empty() ? "{}" : body + "}", index);
    }
    const std::string name =
        head.substr(23, head.find_first_of("? ", 23) - 23);  // GET /v1/health/service/
    const auto found = services_.find(name);
    return http_answer(200, found == services_.end() ? "[]" : found->second, index);
  }

  base::Mutex mutex_;
  base::CondVar moved_;
  std::map<std::string, std::string> services_, tags_;
  std::vector<std::string> requests_;
  uint64_t index_ = 1;
  Mood mood_ = Mood::Fine;
  bool is_stopping_ = false;
  test::ScriptServer server_;
};

ConsulDiscoveryConfig config_for(const FakeConsul& consul) {
  ConsulDiscoveryConfig config;
  config.server = consul.address();
  config.refresh_interval = 10ms;
  return config;
}
ConsulDiscoveryOptions quick() {
  ConsulDiscoveryOptions options;
  options.wait = 2s, options.retry = 20ms;
  return options;
}

TEST(ConsulDiscovery, ASourcesLife) {
  FakeConsul consul;
  base::Registry registry;
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "]");
  test::RunningSource run(make_consul_discovery(config_for(consul), quick(), registry));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << run.sink.error();
  EXPECT_THAT(test::labels_at(run.sink.groups(), "10.0.0.1:9400"),
              Contains(Pair("__meta_consul_dc", "dc7")));
  // Changes come at once: the questions are held until there are some.
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "," +
                                instance("gpu-2", "10.0.0.2", 9400) + "]");
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400", "10.0.0.2:9400"}));
  consul.set_service("cpu", "[" + instance("cpu-1", "10.0.1.1", 9100) + "]");
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400", "10.0.0.2:9400", "10.0.1.1:9100"}));
  consul.set_mood(FakeConsul::Mood::Failing);
  ASSERT_TRUE(run.sink.wait_error("Unexpected response code: 500 (No cluster leader)"));
  EXPECT_EQ(run.sink.addresses().size(), 3u);
  consul.set_mood(FakeConsul::Mood::Lying);
  ASSERT_TRUE(run.sink.wait_error("not JSON"));
  EXPECT_EQ(run.sink.addresses().size(), 3u);
  consul.set_mood(FakeConsul::Mood::Dropping);
  ASSERT_TRUE(run.sink.wait_error("EOF"));
  EXPECT_EQ(run.sink.addresses().size(), 3u);
  consul.erase_service("gpu");
  consul.set_mood(FakeConsul::Mood::Fine);
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.1.1:9100"})) << run.sink.error();
  consul.erase_service("cpu");
  ASSERT_TRUE(run.sink.wait_addresses({}));
  EXPECT_GE(registry.counter("prometheus_sd_consul_rpc_failures_total", "").value(), 3);
}

// A server restored from a backup counts from the start.
TEST(ConsulDiscovery, AnIndexThatGoesBackStartsAnew) {
  FakeConsul consul;
  base::Registry registry;
  consul.set_index(100);
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "]");
  test::RunningSource run(make_consul_discovery(config_for(consul), quick(), registry));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  consul.set_index(2);
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.5", 9400) + "]");
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.5:9400"}));
}

TEST(ConsulDiscovery, QuestionsCarryWhatIsConfigured) {
  FakeConsul consul;
  base::Registry registry;
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "]", R"(["a","b"])");
  consul.set_service("web", "[" + instance("web-1", "10.0.0.2", 80) + "]", R"(["b"])");
  ConsulDiscoveryConfig config = config_for(consul);
  config.datacenter = "dc9", config.consul_namespace = "ns", config.partition = "p";
  config.token = Secret("s3cret");
  config.tags = {"a"};
  config.node_meta = {{"rack", "7"}};
  config.filter = "ServiceName matches \"g\"", config.health_filter = "Service.Port == 1";
  test::RunningSource run(make_consul_discovery(config, quick(), registry));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"})) << run.sink.error();
  const auto requests = consul.requests();
  EXPECT_THAT(requests[0],
              AllOf(HasSubstr("GET /v1/catalog/services?wait=2000ms&index=0&dc=dc9&ns=ns&"
                              "partition=p&node-meta=rack%3A7&filter=ServiceName"),
                    HasSubstr("X-Consul-Token: s3cret"), HasSubstr("stale=")));
  EXPECT_THAT(requests, Contains(AllOf(HasSubstr("GET /v1/health/service/gpu?"),
                                       HasSubstr("&filter=Service.Port%20%3D%3D%201&tag=a"))));
  EXPECT_THAT(requests, ::testing::Not(Contains(HasSubstr("service/web"))));
}

TEST(ConsulDiscovery, NamedServicesNeedNoCatalog) {
  FakeConsul consul;
  base::Registry registry;
  consul.set_service("gpu", "[" + instance("gpu-1", "10.0.0.1", 9400) + "]");
  ConsulDiscoveryConfig config = config_for(consul);
  config.services = {"gpu"};
  test::RunningSource run(make_consul_discovery(config, quick(), registry));
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9400"}));
  EXPECT_THAT(consul.requests(), ::testing::Not(Contains(HasSubstr("catalog"))));
}

TEST(ConsulDiscovery, NobodyThereIsSaidAndTriedAgain) {
  base::Registry registry;
  ConsulDiscoveryConfig config;
  config.server = "127.0.0.1:1";
  test::RunningSource run(make_consul_discovery(config, quick(), registry));
  ASSERT_TRUE(run.sink.wait_error("connection refused"));
  EXPECT_TRUE(run.sink.groups().empty());
}

}  // namespace
}  // namespace vagt::scrape
