#include "exposition/negotiate.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace vagt::exposition {
namespace {

using test::StatusIs;
using ::testing::HasSubstr;

TEST(Negotiate, KnownTypes) {
  EXPECT_EQ(negotiate("text/plain; version=0.0.4; charset=utf-8", {})->format, Format::Text);
  EXPECT_EQ(negotiate("TEXT/PLAIN", {})->format, Format::Text);
  EXPECT_EQ(negotiate("application/openmetrics-text; version=1.0.0", {})->format,
            Format::OpenMetrics);
  EXPECT_EQ(negotiate("text/plain; a=\"x;y\"; b=c;", {})->format, Format::Text);
}

TEST(Negotiate, WithoutFallbackTheHeaderDecides) {
  for (const char* type :
       {"", "  ", "text/html", "application/json", "a/b/c;;",
        "text/plain; version=0.0.4, charset=utf-8", "application/vnd.google.protobuf"}) {
    const auto result = negotiate(type, {});
    EXPECT_THAT(result, StatusIs(Code::InvalidArgument, "Content-Type")) << type;
    EXPECT_THAT(result.status().message(), HasSubstr("fallback_scrape_protocol")) << type;
  }
}

TEST(Negotiate, FallbackWarns) {
  const auto blank = negotiate("", Protocol::PrometheusText004);
  ASSERT_TRUE(blank.ok());
  EXPECT_THAT(blank->warning, HasSubstr("PrometheusText0.0.4"));
  EXPECT_EQ(negotiate("text/html", Protocol::OpenMetricsText100)->format, Format::OpenMetrics);
  EXPECT_EQ(
      negotiate("text/plain; version=0.0.4, charset=utf-8", Protocol::PrometheusText004)->format,
      Format::Text);
}

TEST(AcceptHeader, WeighsInOrder) {
  const Protocol protocols[] = {Protocol::OpenMetricsText100, Protocol::PrometheusProto,
                                Protocol::PrometheusText004};
  EXPECT_EQ(accept_header(protocols, Escaping::AllowUtf8),
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/"
            "plain;version=0.0.4;q=0.5,"
            "*/*;q=0.4");
}

}  // namespace
}  // namespace vagt::exposition
