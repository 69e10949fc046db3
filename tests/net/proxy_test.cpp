#include "net/proxy.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "tests/support/script_server.h"
#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

Environment environment_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

std::string choose(const HttpClientConfig& config, const char* url,
                   std::map<std::string, std::string> environment = {}) {
  return choose_proxy(config, *parse_url(url), environment_of(std::move(environment)));
}

TEST(Proxy, NoneUnlessConfigured) {
  EXPECT_EQ(choose({}, "http://h/", {{"HTTP_PROXY", "http://p:1"}}), "");
}

TEST(Proxy, FixedProxyTakesEverything) {
  HttpClientConfig config;
  config.proxy_url = "http://p:3128";
  EXPECT_EQ(choose(config, "http://h/"), "http://p:3128");
  EXPECT_EQ(choose(config, "http://localhost/"), "http://p:3128");
}

TEST(Proxy, ExclusionListSparesLoopback) {
  HttpClientConfig config;
  config.proxy_url = "p:3128";
  config.no_proxy = "internal";
  EXPECT_EQ(choose(config, "http://h/"), "http://p:3128");
  EXPECT_EQ(choose(config, "http://localhost/"), "");
  EXPECT_EQ(choose(config, "http://127.9.9.9/"), "");
  EXPECT_EQ(choose(config, "http://[::1]/"), "");
  EXPECT_EQ(choose(config, "http://x.internal/"), "");
}

TEST(Proxy, Environment) {
  HttpClientConfig config;
  config.proxy_from_environment = true;
  EXPECT_EQ(choose(config, "http://h/", {{"HTTP_PROXY", "http://p:1"}}), "http://p:1");
  EXPECT_EQ(choose(config, "https://h/", {{"HTTP_PROXY", "http://p:1"}}), "");
  EXPECT_EQ(choose(config, "https://h/", {{"https_proxy", "http://s:1"}}), "http://s:1");
  EXPECT_EQ(choose(config, "http://h/", {{"http_proxy", "p:1"}, {"NO_PROXY", "h"}}), "");
  EXPECT_EQ(choose(config, "http://h/", {{"HTTP_PROXY", "http://evil"}, {"REQUEST_METHOD", "GET"}}),
            "");
}

TEST(Proxy, ExclusionRules) {
  struct Case {
    const char *list, *host, *port;
    bool excluded;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"*", "anything", "80", true},
           {"example.com", "example.com", "80", true},
           {"example.com", "www.EXAMPLE.com", "80", true},
           {"example.com", "notexample.com", "80", false},
           {".example.com", "example.com", "80", false},
           {".example.com", "a.example.com", "80", true},
           {"*.example.com", "a.example.com", "80", true},
           {"example.com:8080", "example.com", "8080", true},
           {"example.com:8080", "example.com", "80", false},
           {"10.0.0.0/8", "10.200.3.4", "80", true},
           {"10.0.0.0/8", "11.0.0.1", "80", false},
           {"10.0.0.0/9", "10.128.0.1", "80", false},
           {"10.1.2.3", "10.1.2.3", "80", true},
           {"fd00::/16", "fd00:1::2", "80", true},
           {"[fd00::1]:80", "fd00::1", "80", true},
           {"fd00::1", "fd00::1", "443", true},
           {" a , b ", "b", "80", true},
           {"a,,", "b", "80", false},
           {"", "b", "80", false},
       }) {
    EXPECT_EQ(is_excluded_from_proxy(c.list, c.host, c.port), c.excluded)
        << c.list << " " << c.host;
  }
}

TEST(Proxy, RequestGoesThroughIt) {
  std::mutex mutex;
  std::string seen;
  test::ScriptServer proxy(test::answer_each([&](const std::string& head) {
    const std::lock_guard lock(mutex);
    seen = head;
    return test::http_answer(200, "from the proxy");
  }));
  auto config = std::make_shared<HttpClientConfig>();
  config->proxy_url = "http://user:pw@127.0.0.1:" + std::to_string(proxy.port());
  HttpClient client({});
  HttpRequest request;
  request.url = Secret("http://no-such-host.invalid/metrics");
  const auto answer = client.fetch(request, config);
  ASSERT_THAT(answer, test::IsOk());
  EXPECT_EQ(answer->body, "from the proxy");
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(seen.starts_with("GET http://no-such-host.invalid")) << seen;
  EXPECT_NE(seen.find("Proxy-Authorization: Basic dXNlcjpwdw=="), std::string::npos) << seen;
}

TEST(Proxy, ConnectCarriesTheProxyHeaders) {
  std::mutex mutex;
  std::string seen;
  test::ScriptServer proxy([&](test::Wire& wire) {
    const std::lock_guard lock(mutex);
    seen = wire.read_until("\r\n\r\n");
    wire.send("HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n");
  });
  auto config = std::make_shared<HttpClientConfig>();
  config->proxy_url = proxy.url();
  config->proxy_headers = {{"X-Ticket", Secret("t1")}};
  config->headers = {{"X-Origin", Secret("o1")}};
  HttpClient client({});
  HttpRequest request;
  request.url = Secret("https://no-such-host.invalid/");
  EXPECT_THAT(client.fetch(request, config), test::StatusIs(Code::Unavailable));
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(seen.starts_with("CONNECT no-such-host.invalid:443")) << seen;
  EXPECT_NE(seen.find("X-Ticket: t1"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("X-Origin"), std::string::npos) << seen;
}

}  // namespace
}  // namespace vagt::net
