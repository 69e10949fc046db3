// --web.config.file: what is refused, and a server behind TLS and passwords whose file changes.
#include "net/web_config.h"

#include <crypt.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/http_client.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tls_wire.h"

namespace vagt::net {
namespace {

using namespace std::chrono_literals;
using test::Certificate;
using test::IsOk;
using test::StatusIs;
using ::testing::HasSubstr;

std::string bcrypt(const std::string& password) {
  crypt_data data{};
  return ::crypt_r(password.c_str(), "$2b$04$abcdefghijklmnopqrstuu", &data);
}

class WebConfigTest : public ::testing::Test {
 protected:
  WebConfigTest() { std::filesystem::create_directories(folder); }
  ~WebConfigTest() override {
    server.reset();
    std::filesystem::remove_all(folder);
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder + "/" + name;
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
    return path;
  }
  void serve(const std::string& text) {
    auto security = open_web_config(write("web.yml", text), base::Logger(), Duration(0));
    ASSERT_THAT(security, IsOk());
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    options.security = *security;
    auto started = HttpServer::start(
        std::move(options),
        [](std::shared_ptr<const ServerRequest>, Respond respond) {
          respond(ServerResponse::text(200, "secret page"));
        },
        base::Logger());
    ASSERT_THAT(started, IsOk());
    server = std::move(*started);
  }
  Result<HttpResponse> get(const HttpClientConfig& config, const std::string& scheme) {
    HttpRequest request;
    request.url = Secret(scheme + "://127.0.0.1:" + std::to_string(server->ports()[0]) + "/");
    request.timeout = 5s;
    return client.fetch(request, std::make_shared<const HttpClientConfig>(config));
  }
  static HttpClientConfig with_password(const std::string& user, const std::string& password) {
    HttpClientConfig config;
    config.basic_auth.emplace();
    config.basic_auth->username = user, config.basic_auth->password = Secret(password);
    return config;
  }

  const std::string folder = ::testing::TempDir() + "web." + std::to_string(::getpid());
  HttpClient client{{}};
  std::unique_ptr<HttpServer> server;
};

TEST_F(WebConfigTest, PasswordsAreAskedForAndMayChange) {
  serve("basic_auth_users: {ann: '" + bcrypt("one") +
        "'}\n"
        "http_server_config: {http2: false, headers: {X-Frame-Options: deny}}\n");
  const auto refused = get({}, "http");
  ASSERT_THAT(refused, IsOk());
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(refused->header("WWW-Authenticate"), "Basic");
  EXPECT_THAT(refused->body, ::testing::Not(HasSubstr("secret")));
  EXPECT_EQ(refused->header("X-Frame-Options"), "deny");
  for (int i = 0; i < 2; ++i) {
    const auto admitted = get(with_password("ann", "one"), "http");
    ASSERT_THAT(admitted, IsOk());
    EXPECT_EQ(admitted->status, 200);
    EXPECT_EQ(admitted->header("X-Frame-Options"), "deny");
  }
  EXPECT_EQ(get(with_password("ann", "two"), "http")->status, 401);
  EXPECT_EQ(get(with_password("bob", "one"), "http")->status, 401);
  EXPECT_EQ(get(with_password("ann", ""), "http")->status, 401);
  write("web.yml", "basic_auth_users: {ann: '" + bcrypt("two") + "'}\n");
  EXPECT_EQ(get(with_password("ann", "two"), "http")->status, 200);
  EXPECT_EQ(get(with_password("ann", "one"), "http")->status, 401);
  // A file that does not load changes nothing.
  write("web.yml", "basic_auth_users: {ann: plain}\n");
  EXPECT_EQ(get(with_password("ann", "two"), "http")->status, 200);
  EXPECT_EQ(get({}, "http")->status, 401);
}

TEST_F(WebConfigTest, ServesTlsWithACertificateThatMayChange) {
  const Certificate first("IP:127.0.0.1"), second("IP:127.0.0.1");
  write("cert.pem", first.pem()), write("key.pem", first.key_pem());
  serve("tls_server_config: {cert_file: cert.pem, key_file: key.pem, min_version: TLS13}\n");
  HttpClientConfig trusts_first, trusts_second;
  trusts_first.tls.ca = first.pem(), trusts_second.tls.ca = second.pem();
  const auto answer = get(trusts_first, "https");
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "secret page");
  EXPECT_THAT(get(trusts_second, "https"), StatusIs(Code::Unavailable, "tls: "));
  HttpClientConfig old = trusts_first;
  old.tls.max_version = "TLS12";
  EXPECT_THAT(get(old, "https"), StatusIs(Code::Unavailable, "tls: "));
  EXPECT_FALSE(get({}, "http").ok());
  // The key alone does not fit: the old pair stays until both are there.
  write("key.pem", second.key_pem());
  EXPECT_THAT(get(trusts_first, "https"), IsOk());
  write("cert.pem", second.pem());
  EXPECT_THAT(get(trusts_second, "https"), IsOk());
}

TEST_F(WebConfigTest, AsksClientsForTheirCertificates) {
  const Certificate authority("DNS:ca"), own("IP:127.0.0.1");
  const Certificate good("DNS:agent", &authority), other_name("DNS:other", &authority);
  const Certificate stranger("DNS:agent");
  write("cert.pem", own.pem()), write("key.pem", own.key_pem()), write("ca.pem", authority.pem());
  serve(
      "tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: ca.pem,\n"
      "  client_auth_type: RequireAndVerifyClientCert, client_allowed_sans: [agent]}\n");
  HttpClientConfig config;
  config.tls.ca = own.pem();
  EXPECT_FALSE(get(config, "https").ok());
  const auto with = [&](const Certificate& certificate) {
    HttpClientConfig mine = config;
    mine.tls.cert = certificate.pem(), mine.tls.key = Secret(certificate.key_pem());
    return get(mine, "https").ok();
  };
  EXPECT_TRUE(with(good));
  EXPECT_FALSE(with(other_name));
  EXPECT_FALSE(with(stranger));
}

TEST_F(WebConfigTest, WhatDoesNotLoadIsRefusedWithItsPlace) {
  const Certificate certificate("IP:127.0.0.1"), other("IP:127.0.0.1");
  write("cert.pem", certificate.pem()), write("key.pem", certificate.key_pem());
  write("other.pem", other.key_pem()), write("bad.pem", "no certificate");
  const std::pair<const char*, const char*> cases[] = {
      {"tls_server_config: {cert_file: cert.pem}", "missing one of key or key_file"},
      {"tls_server_config: {key_file: key.pem}", "missing one of cert or cert_file"},
      {"tls_server_config: {cert_file: none, key_file: key.pem}", "/none: the certificate"},
      {"tls_server_config: {cert_file: bad.pem, key_file: key.pem}", "certificate: "},
      {"tls_server_config: {cert_file: cert.pem, key_file: other.pem}", "key values mismatch"},
      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, min_version: SSL3}",
       "web.yml:1:"},
      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_auth_type: Always}",
       "Invalid ClientAuth: Always"},
      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: cert.pem}",
       "Client CA's have been configured without a Client Auth Policy"},
      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, cipher_suites: [NULL_WITH_X]}",
       "unknown cipher: \"NULL_WITH_X\""},
      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, curve_preferences: [P]}",
       "unknown curve"},
      {"basic_auth_users: {ann: secret}", "the password of \"ann\" is no bcrypt hash"},
      {"http_server_config: {headers: {Server: x}}",
       "HTTP header \"Server\" can not be configured"},
      {"basic_auth_user: {}", "did you mean basic_auth_users?"},
      {"[a]", "expected a map"}};
  for (const auto& [text, words] : cases) {
    const auto opened = open_web_config(write("web.yml", text), base::Logger());
    ASSERT_FALSE(opened.ok()) << text;
    EXPECT_THAT(opened.error().message(), HasSubstr(words)) << text;
    EXPECT_THAT(opened.error().message(), ::testing::Not(HasSubstr("secret\""))) << text;
  }
  EXPECT_FALSE(open_web_config(folder + "/absent.yml", base::Logger()).ok());
  // Nothing asked for is fine.
  EXPECT_THAT(open_web_config(write("web.yml", ""), base::Logger()), IsOk());
}

}  // namespace
}  // namespace vagt::net
