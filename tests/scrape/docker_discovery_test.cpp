#include "scrape/discovery/docker_discovery.h"

#include <gmock/gmock.h>
#include <sys/un.h>

#include <filesystem>

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
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kContainers = R"([
 {"Id":"c1","Names":["/dcgm"],"Labels":{"com.docker.compose.service":"dcgm","app":"gpu"},
  "Ports":[{"IP":"0.0.0.0","PrivatePort":9400,"PublicPort":19400,"Type":"tcp"},
           {"PrivatePort":53,"Type":"udp"},{"PrivatePort":9401,"Type":"tcp"}],
  "HostConfig":{"NetworkMode":"web"},
  "NetworkSettings":{"Networks":{"web":{"NetworkID":"n1","IPAddress":"172.20.0.3"},
                                 "zone":{"NetworkID":"n2","IPAddress":"172.21.0.3"}}}},
 {"Id":"c2","Names":["/bare"],"Labels":{},"Ports":[],"HostConfig":{"NetworkMode":"web"},
  "NetworkSettings":{"Networks":{"web":{"NetworkID":"n1","IPAddress":"172.20.0.4"}}}},
 {"Id":"c3","Names":["/host"],"Labels":{},"Ports":[],"HostConfig":{"NetworkMode":"host"},
  "NetworkSettings":{"Networks":{"host":{"NetworkID":"n3","IPAddress":""}}}},
 {"Id":"c4","Names":["/sidecar"],"Labels":{},"Ports":[{"PrivatePort":7,"Type":"tcp"}],
  "HostConfig":{"NetworkMode":"container:c2"},"NetworkSettings":{"Networks":{}}},
 {"Id":"c5","Names":["/loop"],"HostConfig":{"NetworkMode":"container:c5"},
  "NetworkSettings":{"Networks":{}}},
 {"Id":"c6","Names":[]}, 17])";
constexpr std::string_view kNetworks = R"([
 {"Id":"n1","Name":"web","Scope":"local","Internal":false,"Ingress":true,"Labels":{"a-b":"x"}},
 {"Id":"n3","Name":"host","Scope":"local"}])";

constexpr std::string_view kOneContainer = R"([
 {"Id":"c2","Names":["/bare"],"Labels":{},"Ports":[],"HostConfig":{"NetworkMode":"web"},
  "NetworkSettings":{"Networks":{"web":{"NetworkID":"n1","IPAddress":"172.20.0.9"}}}}])";

TEST(DockerTargets, OneForEachNetworkAndPort) {
  DockerDiscoveryConfig config;
  const auto groups = docker_targets(config, kContainers, kNetworks);
  ASSERT_TRUE(groups.ok()) << groups.error().message();
  std::vector<std::string> addresses;
  for (const auto& target : groups->at(0).targets) addresses.push_back(target.at("__address__"));
  EXPECT_THAT(addresses, ElementsAre("172.20.0.3:9400", "172.20.0.3:9401", "172.20.0.4:80",
                                     "localhost", "172.20.0.4:7"));
  EXPECT_EQ(test::labels_at(*groups, "172.20.0.3:9400"),
            (TextMap{{"__address__", "172.20.0.3:9400"},
                     {"__meta_docker_container_id", "c1"},
                     {"__meta_docker_container_name", "/dcgm"},
                     {"__meta_docker_container_network_mode", "web"},
                     {"__meta_docker_container_label_com_docker_compose_service", "dcgm"},
                     {"__meta_docker_container_label_app", "gpu"},
                     {"__meta_docker_network_id", "n1"},
                     {"__meta_docker_network_name", "web"},
                     {"__meta_docker_network_scope", "local"},
                     {"__meta_docker_network_internal", "false"},
                     {"__meta_docker_network_ingress", "true"},
                     {"__meta_docker_network_label_a_b", "x"},
                     {"__meta_docker_network_ip", "172.20.0.3"},
                     {"__meta_docker_port_private", "9400"},
                     {"__meta_docker_port_public", "19400"},
                     {"__meta_docker_port_public_ip", "0.0.0.0"}}));
  EXPECT_THAT(test::labels_at(*groups, "172.20.0.3:9401"),
              Not(Contains(Pair("__meta_docker_port_public", ::testing::_))));
}

TEST(DockerTargets, AllNetworksWhenAskedFor) {
  DockerDiscoveryConfig config;
  config.match_first_network = false;
  const auto groups = docker_targets(config, kContainers, kNetworks);
  ASSERT_TRUE(groups.ok());
  EXPECT_NE(test::labels_at(*groups, "172.21.0.3:9400"), TextMap());
}

TEST(DockerTargets, WhatIsNoListIsRefused) {
  const DockerDiscoveryConfig config;
  for (const char* text : {"", "{}", "[", "null", "<html>", "[]x"}) {
    EXPECT_FALSE(docker_targets(config, text, "[]").ok()) << text;
  }
  EXPECT_FALSE(docker_targets(config, "[]", "{}").ok());
  EXPECT_FALSE(docker_targets(config, std::string(100, '['), "[]").ok());
}

// Serves a script on a Unix socket by handing its connections to a TCP ScriptServer's script.
class UnixServer {
 public:
  UnixServer(std::string path, test::ScriptServer::Script script)
      : path_(std::move(path)), script_(std::move(script)) {
    fd_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    std::filesystem::remove(path_);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::listen(fd_, 16);
    thread_ = std::thread([this] {
      while (!is_stopping_) {
        pollfd ready{fd_, POLLIN, 0};
        if (::poll(&ready, 1, 20) <= 0) continue;
        const int client = ::accept(fd_, nullptr, nullptr);
        clients_.emplace_back([this, client] {
          test::Wire wire(client);
          script_(wire);
        });
      }
    });
  }
  ~UnixServer() {
    is_stopping_ = true;
    thread_.join();
    ::close(fd_);
    for (auto& client : clients_) client.join();
    std::filesystem::remove(path_);
  }

 private:
  const std::string path_;
  const test::ScriptServer::Script script_;
  int fd_ = -1;
  std::atomic<bool> is_stopping_{false};
  std::list<std::thread> clients_;
  std::thread thread_;
};

// An engine: its phase says what it does.
class Engine {
 public:
  test::ScriptServer::Script script() {
    return [this](test::Wire& wire) {
      while (true) {
        const std::string head = wire.read_until("\r\n\r\n");
        if (!head.ends_with("\r\n\r\n") || !wire.send(answer(head)) || phase == 2) return;
      }
    };
  }
  std::atomic<int> phase{0};
  std::string last_list;
  base::Mutex mutex;

 private:
  std::string answer(const std::string& head) {
    if (phase == 1) return http_answer(500, "down");
    if (phase == 2) return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n[";
    if (head.starts_with("GET /_ping")) return http_answer(200, "OK", "Api-Version: 1.41\r\n");
    if (head.starts_with("GET /v1.41/networks")) return http_answer(200, kNetworks);
    if (!head.starts_with("GET /v1.41/containers/json")) return http_answer(404, "");
    base::MutexLock lock(mutex);
    last_list = head.substr(0, head.find("\r\n"));
    if (phase == 4) return http_answer(200, R"({"message":"what"})");
    if (phase == 5) return http_answer(200, kOneContainer);
    return http_answer(200, phase == 3 ? "[]" : kContainers);
  }
};

TEST(DockerDiscovery, ASourcesLifeOverTcp) {
  Engine engine;
  const test::ScriptServer server(engine.script());
  DockerDiscoveryConfig config;
  config.host = "tcp://127.0.0.1:" + std::to_string(server.port());
  config.refresh_interval = 20ms;
  config.filters = {{"label", {"gpu", "x=y"}}};
  test::RunningSource run(make_docker_discovery(config, "vagt/test"));
  const auto is_full = [](const auto& addresses, const std::string& error) {
    return addresses.size() == 5 && error.empty();
  };
  ASSERT_TRUE(run.sink.wait(is_full)) << run.sink.error();
  {
    base::MutexLock lock(engine.mutex);
    EXPECT_THAT(engine.last_list,
                HasSubstr("?filters=%7B%22label%22%3A%7B%22gpu%22%3Atrue%2C%22x%3Dy%22%3Atrue%7D"));
  }
  engine.phase = 1;
  ASSERT_TRUE(run.sink.wait_error("HTTP status 500"));
  EXPECT_EQ(run.sink.addresses().size(), 5u);
  engine.phase = 2;
  ASSERT_TRUE(run.sink.wait_error("unexpected EOF")) << run.sink.error();
  EXPECT_EQ(run.sink.addresses().size(), 5u);
  engine.phase = 4;
  ASSERT_TRUE(run.sink.wait_error("list")) << run.sink.error();
  EXPECT_EQ(run.sink.addresses().size(), 5u);
  engine.phase = 0;
  ASSERT_TRUE(run.sink.wait(is_full));
  engine.phase = 5;
  ASSERT_TRUE(run.sink.wait_addresses({"172.20.0.9:80"}));
  engine.phase = 3;
  ASSERT_TRUE(run.sink.wait_addresses({}));
}

TEST(DockerDiscovery, OverAUnixSocketThatComesLater) {
  Engine engine;
  const std::string path = ::testing::TempDir() + "docker." + std::to_string(::getpid());
  DockerDiscoveryConfig config;
  config.host = "unix://" + path;
  config.refresh_interval = 20ms;
  std::optional<UnixServer> server;
  test::RunningSource run(make_docker_discovery(config, "vagt/test"));
  ASSERT_TRUE(run.sink.wait([](const auto&, const std::string& error) { return !error.empty(); }));
  server.emplace(path, engine.script());
  EXPECT_TRUE(run.sink.wait([](const auto& addresses, const std::string& error) {
    return addresses.size() == 5 && error.empty();
  })) << run.sink.error();
}

TEST(DockerDiscovery, AServerThatHangsDoesNotHoldUpTheEnd) {
  std::atomic<bool> is_asked{false};
  const test::ScriptServer server([&](test::Wire& wire) {
    wire.read_until("\r\n\r\n");
    is_asked = true;
    wire.read_some();
  });
  DockerDiscoveryConfig config;
  config.host = "tcp://127.0.0.1:" + std::to_string(server.port());
  const auto started = std::chrono::steady_clock::now();
  {
    test::RunningSource run(make_docker_discovery(config, "vagt/test"));
    for (int i = 0; i < 1000 && !is_asked; ++i) std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(is_asked);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, 9s);
}

}  // namespace
}  // namespace vagt::scrape
