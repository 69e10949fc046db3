// The client against servers that do not behave.
#include "net/http_client.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <mutex>

#include "tests/support/script_server.h"
#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using std::chrono::milliseconds;
using test::answer_each;
using test::http_answer;
using test::IsOk;
using test::ScriptServer;
using test::StatusIs;
using test::Wire;
using ::testing::HasSubstr;
using ::testing::Not;

HttpRequest get(const std::string& url) {
  HttpRequest request;
  request.url = Secret(url);
  request.timeout = std::chrono::seconds(5);
  return request;
}

std::shared_ptr<HttpClientConfig> config() { return std::make_shared<HttpClientConfig>(); }

class TempFile {
 public:
  explicit TempFile(const std::string& text)
      : path_(testing::TempDir() + "vagt_net_" + std::to_string(::getpid()) + "_" +
              std::to_string(next_++)) {
    write(text);
  }
  ~TempFile() { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  const std::string& path() const { return path_; }

 private:
  static inline int next_ = 0;
  std::string path_;
};

// Remembers each request's head and answers with what the test says.
class Recorder {
 public:
  explicit Recorder(std::function<std::string(const std::string& head)> answer)
      : server_(answer_each([this, answer = std::move(answer)](const std::string& head) {
          const std::lock_guard lock(mutex_);
          heads_.push_back(head);
          return answer(head);
        })) {}
  std::string url(const std::string& path = "/") const { return server_.url(path); }
  uint16_t port() const { return server_.port(); }
  std::vector<std::string> heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> heads_;
  ScriptServer server_;
};

Recorder always_ok() {
  return Recorder([](const std::string&) { return http_answer(200, "ok"); });
}

TEST(HttpClientFailure, ConnectionRefused) {
  uint16_t port = 0;
  {
    port = ScriptServer([](Wire&) {}).port();
  }
  HttpClient client({});
  const auto answer = client.fetch(get("http://127.0.0.1:" + std::to_string(port) + "/"), nullptr);
  ASSERT_THAT(answer, StatusIs(Code::Unavailable));
  EXPECT_EQ(answer.error().message(),
            "dial tcp 127.0.0.1:" + std::to_string(port) + ": connect: connection refused");
}

TEST(HttpClientFailure, UnknownHost) {
  HttpClient client({});
  EXPECT_THAT(client.fetch(get("http://no-such-host.invalid/"), nullptr),
              StatusIs(Code::Unavailable, "lookup no-such-host.invalid: no such host"));
}

TEST(HttpClientFailure, SilentServerTimesOut) {
  ScriptServer server([](Wire& wire) { wire.read_all(); });
  HttpClient client({});
  HttpRequest request = get(server.url());
  request.timeout = milliseconds(100);
  EXPECT_THAT(client.fetch(request, nullptr), StatusIs(Code::Timeout, "context deadline exceeded"));
}

TEST(HttpClientFailure, SlowDripCountsAgainstTheWholeTransfer) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    // A byte now and then, until the client goes.
    while (wire.send("x") && wire.read_some(20).empty()) {
      char byte;
      if (::recv(wire.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return;
    }
  });
  HttpClient client({});
  HttpRequest request = get(server.url());
  request.timeout = milliseconds(200);
  EXPECT_THAT(client.fetch(request, nullptr), StatusIs(Code::Timeout));
}

TEST(HttpClientFailure, TimeoutCoversRedirects) {
  Recorder loop([](const std::string&) { return http_answer(302, "", "Location: /again\r\n"); });
  HttpClient client({});
  EXPECT_THAT(client.fetch(get(loop.url()), nullptr),
              StatusIs(Code::Unavailable, "stopped after 10 redirects"));
  EXPECT_EQ(loop.heads().size(), 11u);
}

TEST(HttpClientFailure, CutBody) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
  });
  HttpClient client({});
  EXPECT_THAT(client.fetch(get(server.url()), nullptr),
              StatusIs(Code::Unavailable, "unexpected EOF"));
}

TEST(HttpClientFailure, NoAnswerAtAll) {
  ScriptServer server([](Wire& wire) { wire.read_until("\r\n\r\n"); });
  HttpClient client({});
  EXPECT_THAT(client.fetch(get(server.url()), nullptr), StatusIs(Code::Unavailable, "EOF"));
}

TEST(HttpClientFailure, LengthThatLiesLow) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more");
  });
  HttpClient client({});
  const auto answer = client.fetch(get(server.url()), nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "four");
}

TEST(HttpClientFailure, NotHttp) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send("SSH-2.0-OpenSSH_9.2\r\n");
  });
  HttpClient client({});
  EXPECT_THAT(client.fetch(get(server.url()), nullptr), StatusIs(Code::Unavailable));
}

TEST(HttpClientFailure, BodyLimit) {
  Recorder server([](const std::string&) { return http_answer(200, std::string(10'000, 'x')); });
  HttpClient client({});
  HttpRequest request = get(server.url());
  request.max_body_bytes = 9'999;
  EXPECT_THAT(client.fetch(request, nullptr),
              StatusIs(Code::LimitExceeded, "body size limit exceeded: more than 9999 bytes"));
  request.max_body_bytes = 10'000;
  EXPECT_THAT(client.fetch(request, nullptr), IsOk());
  request.max_body_bytes = 0;
  EXPECT_THAT(client.fetch(request, nullptr), IsOk());
}

TEST(HttpClientFailure, EndlessBodyStopsAtTheLimit) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send("HTTP/1.1 200 OK\r\n\r\n");
    while (wire.send(std::string(65536, 'x'))) {
    }
  });
  HttpClient client({});
  HttpRequest request = get(server.url());
  request.max_body_bytes = 1u << 20;
  EXPECT_THAT(client.fetch(request, nullptr), StatusIs(Code::LimitExceeded));
}

TEST(HttpClientFailure, BadRequests) {
  HttpClient client({});
  EXPECT_THAT(client.fetch(get("nonsense"), nullptr), StatusIs(Code::InvalidArgument));
  EXPECT_THAT(client.fetch(get("ftp://127.0.0.1/"), nullptr),
              StatusIs(Code::InvalidArgument, "unsupported protocol scheme \"ftp\""));
  EXPECT_THAT(client.fetch(get("file:///etc/passwd"), nullptr), StatusIs(Code::InvalidArgument));
  HttpRequest split = get("http://127.0.0.1:1/");
  split.headers = {{"X", "a\r\nInjected: yes"}};
  EXPECT_THAT(client.fetch(split, nullptr), StatusIs(Code::InvalidArgument, "line break"));
}

TEST(HttpClientFailure, StopCancels) {
  ScriptServer server([](Wire& wire) { wire.read_all(); });
  HttpClient client({});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(client.fetch(get(server.url()), nullptr, stop.get_token()),
              StatusIs(Code::Cancelled));
}

TEST(HttpClientFailure, DestructionCancels) {
  ScriptServer server([](Wire& wire) { wire.read_all(); });
  std::vector<Code> codes;
  {
    HttpClient client({});
    for (int i = 0; i < 3; ++i) {
      client.send(get(server.url()), nullptr, [&codes](Result<HttpResponse> answer) {
        codes.push_back(answer.status().code());
      });
    }
  }
  EXPECT_EQ(codes, std::vector<Code>(3, Code::Cancelled));
}

TEST(HttpClientRequest, HeadersAsTheyGoOut) {
  Recorder server = always_ok();
  HttpClient client({.user_agent = "vagt/1"});
  auto profile = config();
  profile->headers = {{"X-Team", Secret("gpu")}, {"X-Empty", Secret("")}};
  HttpRequest request = get(server.url("/m?a=b"));
  request.headers = {{"Accept", "text/plain"}};
  request.accept_compression = true;
  ASSERT_THAT(client.fetch(request, profile), IsOk());
  const std::string head = server.heads().at(0);
  EXPECT_TRUE(head.starts_with("GET /m?a=b HTTP/1.1\r\n")) << head;
  EXPECT_THAT(head, HasSubstr("Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  EXPECT_THAT(head, HasSubstr("User-Agent: vagt/1\r\n"));
  EXPECT_THAT(head, HasSubstr("Accept: text/plain\r\n"));
  EXPECT_THAT(head, HasSubstr("Accept-Encoding: gzip\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Team: gpu\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Empty:\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Authorization")));
}

TEST(HttpClientRequest, BasicAuthFromConfigFilesAndUrl) {
  Recorder server = always_ok();
  HttpClient client({});
  auto profile = config();
  profile->basic_auth = BasicAuth{"user", Secret("pa:ss"), "", ""};
  ASSERT_THAT(client.fetch(get(server.url()), profile), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("Authorization: Basic dXNlcjpwYTpzcw==\r\n"));

  TempFile password("one\n");
  auto from_file = config();
  from_file->basic_auth = BasicAuth{"u", Secret("ignored"), "", password.path()};
  ASSERT_THAT(client.fetch(get(server.url()), from_file), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("Authorization: Basic dTpvbmU=\r\n"));
  password.write("two\n");
  ASSERT_THAT(client.fetch(get(server.url()), from_file), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("Authorization: Basic dTp0d28=\r\n"));

  const std::string with_user = "http://u:one@127.0.0.1:" + std::to_string(server.port()) + "/";
  ASSERT_THAT(client.fetch(get(with_user), nullptr), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("Authorization: Basic dTpvbmU=\r\n"));
}

TEST(HttpClientRequest, AuthorizationWithOwnType) {
  Recorder server = always_ok();
  HttpClient client({});
  auto profile = config();
  profile->authorization = Authorization{"GenieKey", Secret("k"), ""};
  ASSERT_THAT(client.fetch(get(server.url()), profile), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("Authorization: GenieKey k\r\n"));
  HttpRequest own = get(server.url());
  own.headers = {{"authorization", "Mine"}};
  ASSERT_THAT(client.fetch(own, profile), IsOk());
  EXPECT_THAT(server.heads().back(), HasSubstr("authorization: Mine\r\n"));
  EXPECT_THAT(server.heads().back(), Not(HasSubstr("GenieKey")));
}

TEST(HttpClientRequest, MissingFilesAreNamed) {
  Recorder server = always_ok();
  HttpClient client({});
  auto profile = config();
  profile->authorization = Authorization{"Bearer", Secret(), "/nonexistent/token"};
  EXPECT_THAT(
      client.fetch(get(server.url()), profile),
      StatusIs(Code::Io, "unable to read authorization credentials: open /nonexistent/token"));
  auto tls = config();
  tls->tls.ca_file = "/nonexistent/ca.pem";
  EXPECT_THAT(client.fetch(get("https://127.0.0.1:1/"), tls),
              StatusIs(Code::Io, "unable to load specified CA cert: open /nonexistent/ca.pem"));
}

TEST(HttpClientRedirect, CredentialsStayWithTheirHost) {
  Recorder elsewhere = always_ok();
  Recorder server([&](const std::string& head) {
    if (head.starts_with("GET /same ")) return http_answer(301, "", "Location: /here\r\n");
    if (head.starts_with("GET /here ")) return http_answer(200, "here");
    return http_answer(302, "moved", "Location: " + elsewhere.url("/there") + "\r\n");
  });
  HttpClient client({});
  auto profile = config();
  profile->authorization = Authorization{"Bearer", Secret("t0ken"), ""};
  profile->headers = {{"X-Api-Key", Secret("k3y")}};
  HttpRequest request = get(server.url("/same"));
  request.headers = {{"Cookie", "c00kie"}, {"Accept", "a/b"}};
  auto answer = client.fetch(request, profile);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "here");
  EXPECT_THAT(server.heads().back(), HasSubstr("Bearer t0ken"));
  EXPECT_THAT(server.heads().back(), HasSubstr("k3y"));

  request.url = Secret(server.url("/other"));
  answer = client.fetch(request, profile);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "ok");
  const std::string head = elsewhere.heads().at(0);
  EXPECT_TRUE(head.starts_with("GET /there ")) << head;
  EXPECT_THAT(head, HasSubstr("Accept: a/b"));
  for (const char* secret : {"t0ken", "k3y", "c00kie"}) EXPECT_THAT(head, Not(HasSubstr(secret)));
}

TEST(HttpClientRedirect, MethodsChangeAsInGo) {
  const auto run = [](int status, const std::string& method) {
    std::mutex mutex;
    std::string second;
    ScriptServer server([&, status](Wire& wire) {
      wire.read_until("\r\n\r\n");
      wire.read_bytes(4);
      wire.send(http_answer(status, "", "Location: /next\r\n"));
      const std::string head = wire.read_until("\r\n\r\n");
      const std::string body =
          head.find("Content-Length: 4") != std::string::npos ? wire.read_bytes(4) : "";
      const std::lock_guard lock(mutex);
      second = head.substr(0, head.find(' ')) + "|" + body;
      wire.send(http_answer(200, ""));
    });
    HttpClient client({});
    HttpRequest request = get(server.url());
    request.method = method;
    request.body = "body";
    EXPECT_THAT(client.fetch(request, nullptr), IsOk());
    const std::lock_guard lock(mutex);
    return second;
  };
  EXPECT_EQ(run(301, "POST"), "GET|");
  EXPECT_EQ(run(302, "PUT"), "GET|");
  EXPECT_EQ(run(303, "POST"), "GET|");
  EXPECT_EQ(run(307, "POST"), "POST|body");
  EXPECT_EQ(run(308, "PUT"), "PUT|body");
}

TEST(HttpClientRedirect, OffMeansTheAnswerItself) {
  Recorder server([](const std::string&) { return http_answer(302, "", "Location: /x\r\n"); });
  HttpClient client({});
  auto profile = config();
  profile->follow_redirects = false;
  const auto answer = client.fetch(get(server.url()), profile);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->status, 302);
  EXPECT_EQ(answer->header("location"), "/x");
}

TEST(HttpClientRedirect, OtherSchemesAreRefused) {
  Recorder server(
      [](const std::string&) { return http_answer(302, "", "Location: file:///etc/passwd\r\n"); });
  HttpClient client({});
  EXPECT_THAT(client.fetch(get(server.url()), nullptr), StatusIs(Code::Unavailable));
}

class TokenServer {
 public:
  explicit TokenServer(bool wants_form = false)
      : server_([this, wants_form](Wire& wire) {
          while (true) {
            const std::string head = wire.read_until("\r\n\r\n");
            const size_t at = head.find("Content-Length: ");
            if (at == std::string::npos) return;
            const std::string body = wire.read_bytes(std::stoul(head.substr(at + 16)));
            const std::lock_guard lock(mutex_);
            heads_.push_back(head);
            bodies_.push_back(body);
            if (wants_form && body.find("client_secret=") == std::string::npos) {
              wire.send(http_answer(401, "{\"error\":\"invalid_client\"}"));
              continue;
            }
            wire.send(http_answer(200, "{\"access_token\":\"tok" + std::to_string(heads_.size()) +
                                           "\",\"token_type\":\"bearer\",\"expires_in\":3600}"));
          }
        }) {}
  std::string url() const { return server_.url("/token"); }
  std::vector<std::string> heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> heads_, bodies_;
  ScriptServer server_;
};

std::shared_ptr<HttpClientConfig> oauth_config(const TokenServer& tokens) {
  auto profile = config();
  OAuth2 oauth;
  oauth.client_id = "id";
  oauth.client_secret = Secret("s/cret");
  oauth.scopes = {"read", "write"};
  oauth.endpoint_params = {{"audience", "a b"}};
  oauth.token_url = tokens.url();
  profile->oauth2 = oauth;
  return profile;
}

TEST(HttpClientOAuth, TokenIsFetchedOnceAndShared) {
  TokenServer tokens;
  Recorder server = always_ok();
  HttpClient client({});
  const auto profile = oauth_config(tokens);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(client.fetch(get(server.url()), profile), IsOk());
  ASSERT_EQ(tokens.bodies().size(), 1u);
  EXPECT_EQ(tokens.bodies()[0], "grant_type=client_credentials&scope=read%20write&audience=a%20b");
  EXPECT_THAT(tokens.heads()[0], HasSubstr("Authorization: Basic aWQ6cyUyRmNyZXQ="));
  for (const auto& head : server.heads())
    EXPECT_THAT(head, HasSubstr("Authorization: Bearer tok1\r\n"));
}

TEST(HttpClientOAuth, FormSecretsWhenTheHeaderIsRefused) {
  TokenServer tokens(true);
  Recorder server = always_ok();
  HttpClient client({});
  ASSERT_THAT(client.fetch(get(server.url()), oauth_config(tokens)), IsOk());
  ASSERT_EQ(tokens.bodies().size(), 2u);
  EXPECT_THAT(tokens.bodies()[1], HasSubstr("&client_id=id&client_secret=s%2Fcret"));
}

TEST(HttpClientOAuth, RefusedTokenIsReplaced) {
  TokenServer tokens;
  Recorder server([](const std::string& head) {
    const bool is_old = head.find("tok1") != std::string::npos;
    return http_answer(is_old ? 401 : 200, "");
  });
  HttpClient client({});
  const auto profile = oauth_config(tokens);
  EXPECT_EQ(client.fetch(get(server.url()), profile)->status, 401);
  EXPECT_EQ(client.fetch(get(server.url()), profile)->status, 200);
}

TEST(HttpClientOAuth, FailureReachesEveryWaiter) {
  Recorder tokens([](const std::string&) { return http_answer(503, "down"); });
  TokenServer unused;
  auto profile = oauth_config(unused);
  profile->oauth2->token_url = tokens.url();
  HttpClient client({});
  EXPECT_THAT(client.fetch(get("http://127.0.0.1:1/"), profile),
              StatusIs(Code::Unavailable, "oauth2: cannot fetch token: HTTP status 503"));
}

TEST(HttpClientConnections, LimitPerHostQueuesTheRest) {
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  ScriptServer server([&](Wire& wire) {
    ++at_once;
    most = std::max(most.load(), at_once.load());
    while (wire.read_until("\r\n\r\n").ends_with("\r\n\r\n")) wire.send(http_answer(200, "ok"));
    --at_once;
  });
  HttpClient client({.user_agent = "t", .max_connections = 0, .max_connections_per_host = 2});
  std::mutex mutex;
  std::condition_variable_any changed;
  int good = 0;
  for (int i = 0; i < 20; ++i) {
    client.send(get(server.url()), nullptr, [&](Result<HttpResponse> answer) {
      const std::lock_guard lock(mutex);
      good += answer && answer->body == "ok" ? 1 : -100;
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(10), [&] { return good == 20; })) << good;
  EXPECT_LE(server.connections(), 2);
}

TEST(HttpClientConnections, IdleConnectionsToManyTargetsAreKept) {
  constexpr int kTargets = 40;
  std::vector<std::unique_ptr<ScriptServer>> servers;
  for (int i = 0; i < kTargets; ++i) {
    servers.push_back(std::make_unique<ScriptServer>(
        answer_each([](const std::string&) { return http_answer(200, "ok"); })));
  }
  HttpClient client({});
  for (int round = 0; round < 3; ++round) {
    for (const auto& server : servers)
      ASSERT_THAT(client.fetch(get(server->url()), nullptr), IsOk());
  }
  for (const auto& server : servers) EXPECT_EQ(server->connections(), 1);
}

TEST(HttpClientConnections, StaleConnectionIsReplacedQuietly) {
  ScriptServer server([](Wire& wire) {
    wire.read_until("\r\n\r\n");
    wire.send(http_answer(200, "ok"));  // and hangs up, though it promised to keep alive
  });
  HttpClient client({});
  for (int i = 0; i < 5; ++i) ASSERT_THAT(client.fetch(get(server.url()), nullptr), IsOk());
  EXPECT_EQ(server.connections(), 5);
}

}  // namespace
}  // namespace vagt::net
