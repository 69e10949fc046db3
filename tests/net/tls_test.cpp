// HTTPS: verification, names, client certificates, files that change.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "net/http_client.h"
#include "tests/support/script_server.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tls_wire.h"

namespace vagt::net {
namespace {

using test::Certificate;
using test::IsOk;
using test::StatusIs;

// Answers each request with the SNI name it was asked for.
class TlsServer {
 public:
  explicit TlsServer(test::ContextPointer context)
      : context_(std::move(context)), server_([this](test::Wire& wire) {
          test::TlsWire tls(context_.get(), wire.fd());
          while (tls.is_open()) {
            const std::string head = tls.read_until("\r\n\r\n");
            if (!head.ends_with("\r\n\r\n")) return;
            const size_t host = head.find("Host: ");
            const std::string body =
                tls.server_name() + "|" + head.substr(host + 6, head.find('\r', host) - host - 6);
            if (!tls.send(test::http_answer(200, body))) return;
          }
        }) {}
  HttpRequest request() const {
    HttpRequest out;
    out.url = Secret("https://127.0.0.1:" + std::to_string(server_.port()) + "/");
    out.timeout = std::chrono::seconds(5);
    return out;
  }
  std::string authority() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  int connections() const { return server_.connections(); }

 private:
  test::ContextPointer context_;
  test::ScriptServer server_;
};

TEST(Tls, UnknownAuthorityIsRefused) {
  const Certificate certificate("IP:127.0.0.1");
  TlsServer server(test::server_context(certificate));
  HttpClient client({});
  EXPECT_THAT(client.fetch(server.request(), nullptr), StatusIs(Code::Unavailable, "tls: "));
  auto lax = std::make_shared<HttpClientConfig>();
  lax->tls.insecure_skip_verify = true;
  EXPECT_THAT(client.fetch(server.request(), lax), IsOk());
}

TEST(Tls, OwnAuthority) {
  const Certificate ca("DNS:ca");
  const Certificate certificate("IP:127.0.0.1", &ca);
  TlsServer server(test::server_context(certificate));
  auto config = std::make_shared<HttpClientConfig>();
  config->tls.ca = ca.pem();
  HttpClient client({});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client.fetch(server.request(), config), IsOk());
  EXPECT_EQ(server.connections(), 1);
}

TEST(Tls, ServerNameIsSentAndVerifiedWhileHostStays) {
  const Certificate certificate("DNS:gpu01.example");
  TlsServer server(test::server_context(certificate));
  auto config = std::make_shared<HttpClientConfig>();
  config->tls.ca = certificate.pem();
  HttpClient client({});
  EXPECT_THAT(client.fetch(server.request(), config), StatusIs(Code::Unavailable, "tls: "));
  config = std::make_shared<HttpClientConfig>(*config);
  config->tls.server_name = "gpu01.example";
  const auto answer = client.fetch(server.request(), config);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "gpu01.example|" + server.authority());
}

TEST(Tls, ClientCertificate) {
  const Certificate ca("DNS:ca");
  const Certificate certificate("IP:127.0.0.1", &ca);
  const Certificate mine("DNS:vagtd", &ca);
  TlsServer server(test::server_context(certificate, &ca));
  auto config = std::make_shared<HttpClientConfig>();
  config->tls.ca = ca.pem();
  HttpClient client({});
  EXPECT_THAT(client.fetch(server.request(), config), StatusIs(Code::Unavailable));
  config = std::make_shared<HttpClientConfig>(*config);
  config->tls.cert = mine.pem();
  config->tls.key = Secret(mine.key_pem());
  EXPECT_THAT(client.fetch(server.request(), config), IsOk());
}

TEST(Tls, ChangedAuthorityFileMakesANewConnection) {
  const Certificate right("IP:127.0.0.1");
  const Certificate wrong("IP:127.0.0.1");
  TlsServer server(test::server_context(right));
  const std::string path = testing::TempDir() + "vagt_ca_" + std::to_string(::getpid());
  std::ofstream(path) << right.pem();
  auto config = std::make_shared<HttpClientConfig>();
  config->tls.ca_file = path;
  HttpClient client({});
  EXPECT_THAT(client.fetch(server.request(), config), IsOk());
  std::ofstream(path) << wrong.pem();
  EXPECT_THAT(client.fetch(server.request(), config), StatusIs(Code::Unavailable));
  std::ofstream(path) << "";
  EXPECT_THAT(client.fetch(server.request(), config), StatusIs(Code::Io, "empty"));
  std::remove(path.c_str());
}

TEST(Tls, VersionsOutOfReach) {
  const Certificate certificate("IP:127.0.0.1");
  auto context = test::server_context(certificate);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  TlsServer server(std::move(context));
  auto config = std::make_shared<HttpClientConfig>();
  config->tls.ca = certificate.pem();
  config->tls.min_version = "TLS13";
  HttpClient client({});
  EXPECT_THAT(client.fetch(server.request(), config), StatusIs(Code::Unavailable));
  config = std::make_shared<HttpClientConfig>(*config);
  config->tls.min_version = "TLS12";
  EXPECT_THAT(client.fetch(server.request(), config), IsOk());
  config = std::make_shared<HttpClientConfig>(*config);
  config->tls.min_version = "SSL3";
  EXPECT_THAT(client.fetch(server.request(), config),
              StatusIs(Code::InvalidArgument, "unknown TLS version: SSL3"));
}

}  // namespace
}  // namespace vagt::net
