// One target's scrapes against a store: field case A11, staleness, labels, report series.
#include "scrape/scrape_loop.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/scrape/scrape_fixture.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using test::page;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ScrapeLoopTest : public ::testing::Test {
 protected:
  ScrapeOutcome scrape(const Result<net::HttpResponse>& answer) {
    now += std::chrono::seconds(15);
    if (!job) job = compile_job(config).value();
    return loop.ingest(answer, {now, std::chrono::duration<double>(0.25)}, job, 1 << 20,
                       config.timeout, store);
  }
  // The value of a series at the last scrape; nullopt when it has none.
  std::optional<double> value(const std::string& series) {
    const auto all = test::samples_of(store, now, now);
    const auto found = all.find(series + " @" + std::to_string(to_millis(now)));
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  bool ended(const std::string& series) { return value(series) && is_stale(*value(series)); }

  ScrapeConfig config;
  JobPtr job;
  tsdb::MemoryStore store;
  MetadataTable table;
  ScrapeLoop loop{Labels::of({{"instance", "i"}, {"job", "j"}}), 1, table};
  Timestamp now = from_millis(1'700'000'000'000);
};

constexpr const char* kUp = R"(up{instance="i", job="j"})";
std::string series(const std::string& name) { return name + R"({instance="i", job="j"})"; }

TEST_F(ScrapeLoopTest, StoresSamplesAndReport) {
  const auto outcome = scrape(page("a 1\nb{x=\"y\"} 2\n"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(value(series("a")), 1);
  EXPECT_EQ(value(R"(b{instance="i", job="j", x="y"})"), 2);
  EXPECT_EQ(value(kUp), 1);
  EXPECT_EQ(value(series("scrape_duration_seconds")), 0.25);
  EXPECT_EQ(value(series("scrape_samples_scraped")), 2);
  EXPECT_EQ(value(series("scrape_samples_post_metric_relabeling")), 2);
  EXPECT_EQ(value(series("scrape_series_added")), 2);
  EXPECT_EQ(value(series("scrape_timeout_seconds")), std::nullopt);
  scrape(page("a 1\nb{x=\"y\"} 2\n"));
  EXPECT_EQ(value(series("scrape_series_added")), 0);
}

TEST_F(ScrapeLoopTest, FailedScrapesEndTheSeriesOnce) {
  scrape(page("a 1\n"));
  const auto outcome = scrape(Status(Code::Timeout, "context deadline exceeded"));
  EXPECT_EQ(outcome.error, "context deadline exceeded");
  EXPECT_EQ(value(kUp), 0);
  EXPECT_TRUE(ended(series("a")));
  scrape(Status(Code::Unavailable, "connection refused"));
  EXPECT_EQ(value(series("a")), std::nullopt);
  scrape(page("a 5\n"));
  EXPECT_EQ(value(series("a")), 5);
  EXPECT_EQ(value(series("scrape_series_added")), 0);

  net::HttpResponse refused = page("a 1\n");
  refused.status = 500;
  EXPECT_EQ(scrape(refused).error, "server returned HTTP status 500 Internal Server Error");
  EXPECT_TRUE(ended(series("a")));
}

TEST_F(ScrapeLoopTest, ABadPageStoresNothingOfIt) {
  scrape(page("a 1\n"));
  const auto outcome = scrape(page("a 2\nb one\nc 3\n"));
  EXPECT_THAT(outcome.error, HasSubstr("line 2"));
  EXPECT_THAT(outcome.error, HasSubstr("b one"));
  EXPECT_EQ(value(kUp), 0);
  EXPECT_TRUE(ended(series("a")));
  EXPECT_EQ(value(series("c")), std::nullopt);
}

TEST_F(ScrapeLoopTest, FieldCaseA11) {
  auto outcome = scrape(page("a 1\na 2\nb 3\n"));
  EXPECT_EQ(value(kUp), 1);
  EXPECT_EQ(value(series("a")), 1);
  EXPECT_EQ(value(series("b")), 3);
  EXPECT_EQ(outcome.counts.repeated, 1u);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("1 duplicate")));

  outcome = scrape(page("busy -nan\nb 3\n"));
  EXPECT_EQ(outcome.error, "");
  ASSERT_TRUE(value(series("busy")).has_value());
  EXPECT_TRUE(std::isnan(*value(series("busy"))) && !is_stale(*value(series("busy"))));
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("-nan")));

  outcome = scrape(page("a 1\r\nb 3\r\n"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(value(series("b")), 3);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("CR LF")));

  EXPECT_EQ(scrape(page("a 1\nb 7")).error, "");
  EXPECT_EQ(value(series("b")), 7);
  EXPECT_EQ(scrape(page("# HELP a\na{} 1\n")).error, "");
  EXPECT_EQ(value(series("a")), 1);

  outcome = scrape(page("\"a 1\\nb 2\\n\""));
  EXPECT_THAT(outcome.error, HasSubstr("JSON-quoted"));
  EXPECT_EQ(outcome.counts.scraped, 0u);

  outcome = scrape(page("a 1\n", ""));
  EXPECT_THAT(outcome.error, HasSubstr("Content-Type"));
  EXPECT_THAT(outcome.error, HasSubstr("fallback_scrape_protocol"));
}

TEST_F(ScrapeLoopTest, FallbackProtocol) {
  config.fallback_protocol = exposition::Protocol::PrometheusText004;
  EXPECT_EQ(scrape(page("a 1\n", "")).error, "");
  const auto outcome = scrape(page("a 1\n", "text/plain; version=0.0.4, charset=utf-8"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("fallback_scrape_protocol")));
}

TEST_F(ScrapeLoopTest, LabelsOfTargetAndSample) {
  scrape(page("a{job=\"x\",instance=\"y\",exported_job=\"z\"} 1\n"));
  EXPECT_EQ(
      value(
          R"(a{exported_exported_job="x", exported_instance="y", exported_job="z", instance="i", job="j"})"),
      1);
}

TEST_F(ScrapeLoopTest, HonorLabels) {
  config.honor_labels = true;
  scrape(page("a{job=\"x\",instance=\"\"} 1\n"));
  EXPECT_EQ(value(R"(a{job="x"})"), 1);
}

TEST_F(ScrapeLoopTest, HonorTimestamps) {
  scrape(page("a 1 " + std::to_string(to_millis(now) + 14'000) + "\n"));
  EXPECT_EQ(value(series("a")), std::nullopt);
  const auto all = test::samples_of(store, now - std::chrono::seconds(1), now);
  EXPECT_TRUE(all.contains(series("a") + " @" + std::to_string(to_millis(now) - 1000)));
}

TEST_F(ScrapeLoopTest, Limits) {
  config.limits.labels = 3;
  EXPECT_THAT(scrape(page("a{b=\"1\",c=\"2\"} 1\n")).error, HasSubstr("label_limit exceeded"));
  config.limits = {};
  config.limits.label_value_length = 3;
  job = nullptr;
  EXPECT_THAT(scrape(page("a{b=\"1234\"} 1\n")).error,
              HasSubstr("label_value_length_limit exceeded"));
  config.limits = {};
  config.limits.samples = 1;
  config.extra_scrape_metrics = true;
  job = nullptr;
  EXPECT_THAT(scrape(page("a 1\nb 2\n")).error, HasSubstr("sample limit exceeded"));
  EXPECT_EQ(value(series("scrape_samples_scraped")), 2);
  EXPECT_EQ(value(series("scrape_sample_limit")), 1);
  EXPECT_THAT(scrape(page(std::string(2 << 20, '#'))).error, HasSubstr("body size limit exceeded"));
}

TEST_F(ScrapeLoopTest, NewRulesReadThePageAfresh) {
  scrape(page("a 1\nb 2\n"));
  RelabelConfig drop;
  drop.source_labels = {"__name__"}, drop.regex = "b", drop.action = RelabelAction::Drop;
  config.metric_relabel = {drop};
  job = nullptr;
  scrape(page("a 1\nb 2\n"));
  EXPECT_EQ(value(series("a")), 1);
  EXPECT_TRUE(ended(series("b")));
}

TEST_F(ScrapeLoopTest, MetadataReachesTheStore) {
  scrape(page("# HELP a text\\n2\n# TYPE a counter\na 1\n"));
  ASSERT_EQ(store.metadata("a").size(), 1u);
  EXPECT_EQ(store.metadata("a")[0].second, (tsdb::Metadata{"counter", "text\n2", ""}));
  ASSERT_EQ(loop.metadata()->size(), 1u);
  const MetadataPtr before = loop.metadata();
  scrape(page("# HELP a text\\n2\n# TYPE a counter\na 1\n"));
  EXPECT_EQ(loop.metadata(), before);
  scrape(page("# TYPE a gauge\na 1\n"));
  EXPECT_EQ(store.metadata("a")[0].second, (tsdb::Metadata{"gauge", "", ""}));
}

TEST_F(ScrapeLoopTest, TheEndMarksEverything) {
  scrape(page("a 1\n"));
  now += std::chrono::seconds(15);
  ASSERT_TRUE(loop.end(now, store).ok());
  EXPECT_TRUE(ended(series("a")));
  EXPECT_TRUE(ended(kUp));
}

}  // namespace
}  // namespace vagt::scrape
