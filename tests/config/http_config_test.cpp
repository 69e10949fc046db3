#include "config/http_config.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace vagt::config {
namespace {

using test::IsOk;
using test::StatusIs;

Result<net::HttpClientConfig> read(std::string_view text) {
  VAGT_TRY(const base::YamlNode node, base::parse_yaml(text, "f.yml"));
  base::YamlFields fields(node);
  net::HttpClientConfig config;
  read_http_config(fields, "/base", config);
  VAGT_CHECK_OK(fields.finish());
  return config;
}

TEST(HttpConfig, ReadsEverything) {
  const auto config = read(R"(
basic_auth: {username: u, password_file: pw}
tls_config: {cert_file: c, key_file: /k, insecure_skip_verify: true, min_version: TLS12}
proxy_url: http://p:1
no_proxy: a,b
proxy_connect_header: {X: [one, two]}
http_headers: {H: {values: [v], secrets: [s], files: [t, /u]}}
follow_redirects: false
enable_http2: false
)");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->basic_auth->password_file, "/base/pw");
  EXPECT_EQ(config->tls.cert_file, "/base/c");
  EXPECT_EQ(config->tls.key_file, "/k");
  EXPECT_EQ(config->proxy_headers.size(), 2u);
  EXPECT_EQ(config->headers[1].second.reveal(), "s");
  EXPECT_EQ(config->header_files,
            (std::vector<std::pair<std::string, std::string>>{{"H", "/base/t"}, {"H", "/u"}}));
  EXPECT_FALSE(config->follow_redirects);
}

TEST(HttpConfig, BearerTokenIsAnAuthorization) {
  const auto config = read("bearer_token: t");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->authorization->type, "Bearer");
  EXPECT_EQ(config->authorization->credentials.reveal(), "t");
}

TEST(HttpConfig, OneCredentialOnly) {
  for (const char* text :
       {"{bearer_token: a, bearer_token_file: b}", "{bearer_token: a, basic_auth: {username: u}}",
        "{authorization: {credentials: x}, basic_auth: {username: u}}",
        "{basic_auth: {password: a, password_file: b}}", "{authorization: {type: Basic}}",
        "{oauth2: {client_id: x}}", "{tls_config: {cert_file: x}}", "{no_proxy: x}",
        "{tls_config: {min_version: SSL3}}", "{http_headers: {Authorization: {values: [x]}}}"}) {
    EXPECT_THAT(read(text), StatusIs(Code::InvalidArgument, "f.yml:1:")) << text;
  }
}

}  // namespace
}  // namespace vagt::config
