#include "node-agent/page_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// One request on a connection of its own; the whole answer.
std::string ask(const std::string& method, uint16_t port, const std::string& target,
                const std::string& headers = "") {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request =
        method + ' ' + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n";
    send(fd, request.data(), request.size(), 0);
    char buffer[8192];
    for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

std::string get(uint16_t port, const std::string& target, const std::string& headers = "") {
  return ask("GET", port, target, headers);
}

TEST(PageServer, LetsGoOfTheDriver) {
  FakeHost host;
  Options options;
  options.sources = host.sources();
  options.collectors = {"loadavg"};
  options.listen = {"127.0.0.1:0"};
  const auto agent = Agent::make(options).value();
  const auto server = PageServer::start(*agent, options).value();
  const uint16_t port = server->ports().at(0);
  const std::string length = "Content-Length: 0\r\n";
  EXPECT_THAT(get(port, "/-/gpu/release"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("POST", port, "/-/gpu/release?seconds=9999", length), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("POST", port, "/-/gpu/release?seconds=60", length), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(host.sources().gpus->released_until(), host.clock().now() + std::chrono::seconds(60));
  EXPECT_THAT(ask("POST", port, "/-/gpu/release?seconds=0", length), HasSubstr("used again"));
  EXPECT_THAT(get(port, "/ipmi?target=x"), StartsWith("HTTP/1.1 400"));  // no --ipmi.config
}

TEST(PageServer, ServesItsPages) {
  FakeHost host;
  host.file("proc/loadavg", "1 2 3\n").file("proc/stat", "btime 5\n");
  Options options;
  options.sources = host.sources();
  options.collectors = {"loadavg", "stat"};
  options.listen = {"127.0.0.1:0"};
  options.compat_listen = {{"127.0.0.1:0", {"stat"}}};
  host.sources().kernel_lines->add(7, from_millis(5000), 4, "eth0: link is down");
  const auto agent = Agent::make(options).value();
  const auto server = PageServer::start(*agent, options).value();
  const uint16_t port = server->ports().at(0);
  EXPECT_THAT(get(port, "/metrics"), HasSubstr("node_load1 1\n"));
  EXPECT_THAT(get(port, "/metrics"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(get(port, "/metrics/stat"), ::testing::Not(HasSubstr("node_load1")));
  EXPECT_THAT(get(port, "/metrics?collect[]=stat"), HasSubstr("node_boot_time_seconds 5\n"));
  EXPECT_THAT(get(port, "/metrics/nosuch"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(get(port, "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n"),
              HasSubstr("# EOF\n"));
  EXPECT_THAT(get(port, "/-/healthy"), HasSubstr("healthy"));
  EXPECT_THAT(get(port, "/"), HasSubstr("/metrics/loadavg"));
  const std::string compat = get(server->ports().at(1), "/metrics");
  EXPECT_THAT(compat, HasSubstr("node_boot_time_seconds 5\n"));
  EXPECT_THAT(compat, ::testing::Not(HasSubstr("node_load1")));
  EXPECT_THAT(get(port, "/api/v1/kernel-log"),
              HasSubstr(R"({"next":7,"lines":[{"seq":7,"time":5,"priority":4,"message":"eth0: )"));
  EXPECT_THAT(get(port, "/api/v1/kernel-log?after=7"), HasSubstr(R"("next":7,"lines":[]})"));
  EXPECT_THAT(get(port, "/api/v1/kernel-log?after=x"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(get(port, "/nothing"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(port, "/metrics"), HasSubstr("vagt_http_requests_total{code=\"404\"} 1\n"));
}

}  // namespace
}  // namespace vagt::agent
