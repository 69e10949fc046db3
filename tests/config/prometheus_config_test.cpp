#include "config/prometheus_config.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/status_matchers.h"

namespace vagt::config {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Result<PrometheusConfig> parse(std::string_view text) {
  return parse_prometheus_config(text, "/etc/p/prometheus.yml");
}

TEST(PrometheusConfig, EmptyIsAllDefaults) {
  const auto config = parse("");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->global.scrape_interval, std::chrono::minutes(1));
  EXPECT_EQ(config->global.scrape_timeout, std::chrono::seconds(10));
  EXPECT_EQ(config->global.evaluation_interval, std::chrono::minutes(1));
  EXPECT_TRUE(config->scrape_configs.empty());
}

TEST(PrometheusConfig, JobsInheritFromGlobal) {
  const auto config = parse(R"(
global: {scrape_interval: 5s, sample_limit: 10, body_size_limit: 1KB}
scrape_configs:
- job_name: a
  static_configs: [{targets: ["x:1"], labels: {rack: r1}}]
- {job_name: b, scrape_interval: 30s, sample_limit: 20, params: {m: [x, y]}}
)");
  ASSERT_THAT(config, IsOk());
  const auto& a = config->scrape_configs[0];
  EXPECT_EQ(a.interval, std::chrono::seconds(5));
  EXPECT_EQ(a.timeout, std::chrono::seconds(5));  // never longer than the interval
  EXPECT_EQ(a.limits.samples, 10u);
  EXPECT_EQ(a.limits.body_size_bytes, 1024u);
  EXPECT_EQ(a.discovery.static_groups[0].labels.at("rack"), "r1");
  const auto& b = config->scrape_configs[1];
  EXPECT_EQ(b.timeout, std::chrono::seconds(5));
  EXPECT_EQ(b.limits.samples, 20u);
  EXPECT_EQ(b.params[0].second.size(), 2u);
}

TEST(PrometheusConfig, PathsAreRelativeToTheFile) {
  const auto config = parse(R"(
rule_files: ["rules/*.yml", /abs.yml]
notify_file: am.yml
scrape_configs:
- job_name: a
  authorization: {credentials_file: tok}
  tls_config: {ca_file: ca.pem}
  file_sd_configs: [{files: ["sd/*.json"]}]
)");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->rule_files, ElementsAre("/etc/p/rules/*.yml", "/abs.yml"));
  EXPECT_EQ(config->notify_file, "/etc/p/am.yml");
  const auto& job = config->scrape_configs[0];
  EXPECT_EQ(job.http.authorization->credentials_file, "/etc/p/tok");
  EXPECT_EQ(job.http.tls.ca_file, "/etc/p/ca.pem");
  EXPECT_THAT(job.discovery.files[0].files, ElementsAre("/etc/p/sd/*.json"));
}

TEST(PrometheusConfig, ExternalLabelsExpandTheEnvironment) {
  setenv("VAGT_TEST_SITE", "dc1", 1);
  const auto config = parse(
      "global: {external_labels: {a: \"${VAGT_TEST_SITE}-x\", b: $VAGT_TEST_SITE, c: $$d, e: "
      "\"$\"}}");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->global.external_labels.to_string(), R"({a="dc1-x", b="dc1", c="$d", e="$"})");
}

TEST(PrometheusConfig, MisspeltKeysNamePlaceAndNearest) {
  const auto config = parse("scrape_configs:\n- job_name: a\n  scrape_intervall: 5s\n");
  EXPECT_THAT(config, StatusIs(Code::InvalidArgument, "/etc/p/prometheus.yml:3:3: "));
  EXPECT_THAT(config.error().message(), HasSubstr("did you mean scrape_interval?"));
}

TEST(PrometheusConfig, LaterPartsAreAcceptedWithANotice) {
  const auto config = parse(R"(
remote_write: [{url: "http://u:pw@x/"}]
tracing: {endpoint: "x:1"}
scrape_configs: [{job_name: a, ec2_sd_configs: [{region: "x"}]}]
)");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->notices.size(), 3u);
  EXPECT_THAT(config->scrape_configs[0].discovery.unsupported, ElementsAre("ec2_sd_configs"));
}

TEST(PrometheusConfig, ShownTextHasNoSecretAndLoadsAgain) {
  const auto config = parse(R"(
global: {external_labels: {token: shown, "odd key": "x: y"}}
scrape_configs:
- job_name: a
  basic_auth: {username: u, password: hunter2}
  http_headers: {X-Key: {secrets: [hunter2], values: ["v"]}}
  params: {password: [shown]}
  relabel_configs: [{regex: "", target_label: x, replacement: ""}, {target_label: y}]
  static_configs: [{targets: ["[::1]:9", "b:2"], labels: {n: "007", empty: ""}}]
- job_name: "no"
  bearer_token: hunter2
  proxy_url: http://u:hunter2@proxy:1/
)");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(config->text, HasSubstr("shown"));
  const auto again = parse(config->text);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->text, config->text);
  EXPECT_EQ(again->global.external_labels, config->global.external_labels);
  EXPECT_EQ(again->scrape_configs[0].relabel, config->scrape_configs[0].relabel);
  EXPECT_EQ(again->scrape_configs[0].discovery, config->scrape_configs[0].discovery);
  EXPECT_EQ(again->scrape_configs[1].job_name, "no");
}

TEST(PrometheusConfig, FingerprintTellsChangedJobs) {
  const std::string text =
      "global: {scrape_interval: 5s}\nscrape_configs: [{job_name: a, bearer_token: x}]\n";
  const auto
      one = parse(text),
      same = parse(text + "# note\n"),
      other = parse(
          "global: {scrape_interval: 5s}\nscrape_configs: [{job_name: a, bearer_token: y}]\n"),
      global = parse(
          "global: {scrape_interval: 6s}\nscrape_configs: [{job_name: a, bearer_token: x}]\n");
  EXPECT_EQ(one->scrape_configs[0].fingerprint, same->scrape_configs[0].fingerprint);
  EXPECT_NE(one->scrape_configs[0].fingerprint, other->scrape_configs[0].fingerprint);
  EXPECT_NE(one->scrape_configs[0].fingerprint, global->scrape_configs[0].fingerprint);
}

TEST(PrometheusConfig, RefusesWhatCannotBe) {
  EXPECT_THAT(load_prometheus_config("/nonexistent.yml"), StatusIs(Code::Io, "/nonexistent.yml"));
  EXPECT_THAT(load_prometheus_config("/tmp"), StatusIs(Code::Io, "directory"));
  EXPECT_FALSE(parse("- a\n").ok());
  EXPECT_FALSE(parse("scrape_configs: 5\n").ok());
  EXPECT_FALSE(parse("scrape_configs: [{job_name: a, static_configs: [{targets: 5}]}]\n").ok());
  EXPECT_FALSE(parse(std::string("global: {query_log_file: \"\x01\xff\"}\n")).ok());
  EXPECT_THAT(parse("scrape_configs: [{job_name: a, file_sd_configs: [{files: [x.txt]}]}]"),
              StatusIs(Code::InvalidArgument, "is not valid for file discovery"));
}

// The job of blackbox_exporter as everybody writes it.
TEST(PrometheusConfig, AnAddressMayBeAUrlWhereRelabellingSeesItFirst) {
  const std::string job =
      "scrape_configs: [{job_name: b, static_configs: [{targets: ['http://h/p']}]";
  const std::string relabelling =
      ", relabel_configs: [{target_label: __address__, replacement: x}]";
  EXPECT_THAT(parse_prometheus_config(job + relabelling + "}]", "p.yml"), IsOk());
  for (const std::string rest : {"}]", ", relabel_configs: []}]"}) {
    EXPECT_THAT(
        parse_prometheus_config(job + rest, "p.yml"),
        StatusIs(Code::InvalidArgument, "p.yml:1:60: \"http://h/p\" is not a valid hostname"))
        << rest;
  }
}

TEST(PrometheusConfig, TheJobsForExportersLoad) {
  const auto config = load_prometheus_config(VAGT_SOURCE_DIR "/docs/exporters/jobs.yml");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->scrape_configs.size(), 15u);
  EXPECT_TRUE(config->notices.empty());
}

}  // namespace
}  // namespace vagt::config
