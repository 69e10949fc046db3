#include "net/url.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using test::IsOk;
using test::StatusIs;

TEST(Url, AllParts) {
  const auto url = parse_url("HTTPS://us%40er:p%3Ass@Example.com:8443/a/b%20c?q=1&r=%20#frag");
  ASSERT_THAT(url, IsOk());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->user, "us@er");
  EXPECT_EQ(url->password, "p:ss");
  EXPECT_EQ(url->host, "Example.com");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->path, "/a/b%20c");
  EXPECT_EQ(url->query, "q=1&r=%20");
  EXPECT_EQ(url->fragment, "frag");
}

TEST(Url, BareHostsAndIPv6) {
  const auto bare = parse_url("http://h");
  ASSERT_THAT(bare, IsOk());
  EXPECT_EQ(bare->host, "h");
  EXPECT_EQ(bare->path, "");
  const auto v6 = parse_url("http://[fe80::1]:9090?x");
  ASSERT_THAT(v6, IsOk());
  EXPECT_EQ(v6->host, "fe80::1");
  EXPECT_EQ(v6->port, "9090");
  EXPECT_EQ(v6->query, "x");
}

TEST(Url, FaultsAreNamedWithoutTheUrl) {
  for (const char* bad : {"", "host:80/x", "/path", "://x", "1http://x", "http://", "http://:80",
                          "http://h:x/", "http://h:70000/", "http://[::1", "http://[::1]x",
                          "http://a b/", "http://h/\n", "http://u%zz@h/"}) {
    const auto url = parse_url(bad);
    EXPECT_THAT(url, StatusIs(Code::InvalidArgument)) << bad;
  }
  const auto secret = parse_url("http://user:hunter2@host:notaport/");
  ASSERT_THAT(secret, StatusIs(Code::InvalidArgument));
  EXPECT_EQ(secret.error().message().find("hunter2"), std::string::npos);
}

TEST(Url, EncodingRoundTrip) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  const std::string encoded = url_encode(every);
  EXPECT_EQ(url_decode(encoded, false), every);
  EXPECT_EQ(url_decode(encoded, true), every);
  EXPECT_EQ(url_encode("a-_.~Z9 /+"), "a-_.~Z9%20%2F%2B");
  EXPECT_EQ(url_decode("a+b%2B", true), "a b+");
  EXPECT_EQ(url_decode("a+b", false), "a+b");
}

TEST(Url, BrokenEscapes) {
  for (const char* bad : {"%", "%1", "%zz", "a%2", "%g0"}) {
    EXPECT_EQ(url_decode(bad, true), std::nullopt) << bad;
  }
}

TEST(QueryString, PairsInOrder) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query_string("match[]=up&match%5B%5D=x%3D1&empty=&bare&=v&&a=b=c"),
            (Pairs{{"match[]", "up"},
                   {"match[]", "x=1"},
                   {"empty", ""},
                   {"bare", ""},
                   {"", "v"},
                   {"a", "b=c"}}));
  EXPECT_TRUE(parse_query_string("").empty());
}

TEST(QueryString, Faults) {
  EXPECT_EQ(query_string_fault("a=%20&b=1"), "");
  EXPECT_EQ(query_string_fault("a=%2x&b=1"), "invalid URL escape \"%2x\"");
  EXPECT_EQ(query_string_fault("a=%"), "invalid URL escape \"%\"");
}

}  // namespace
}  // namespace vagt::net
