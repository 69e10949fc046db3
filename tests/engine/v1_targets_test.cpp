#include <gmock/gmock.h>

#include <future>

#include "config/prometheus_config.h"
#include "engine/api/v1_status.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"
#include "tsdb/memory_store.h"

namespace vagt::engine::api {
namespace {

using ::testing::HasSubstr;

class V1TargetsTest : public ::testing::Test {
 protected:
  V1TargetsTest() {
    const auto config = config::parse_prometheus_config(
        "scrape_configs:\n"
        "  - job_name: gpu\n"
        "    static_configs: [{targets: ['a:9500']}]\n"
        "    relabel_configs:\n"
        "      - {source_labels: [__address__], target_label: host, regex: '(.*):.*'}\n"
        "      - {action: drop, source_labels: [host], regex: 'b'}\n",
        "/etc/vagt/prometheus.yml");
    EXPECT_THAT(config, test::IsOk());
    EXPECT_THAT(scrape_.apply(config->scrape_configs), test::IsOk());
    add_target_routes(router_, context_);
  }
  static rules::RuleManager::Options rule_options(tsdb::Store& store, Clock& clock) {
    rules::RuleManager::Options options;
    options.store = &store;
    options.clock = &clock;
    return options;
  }
  net::ServerResponse ask(std::string path, decltype(net::ServerRequest::params) params) {
    auto request = std::make_shared<net::ServerRequest>();
    request->method = "GET";
    request->path = std::move(path);
    request->params = std::move(params);
    std::promise<net::ServerResponse> answered;
    router_.handle(request, [&](net::ServerResponse r) { answered.set_value(std::move(r)); });
    return answered.get_future().get();
  }

  const Flags flags_;
  test::ManualClock clock_;
  tsdb::MemoryStore store_;
  base::Registry registry_;
  scrape::ScrapeManager scrape_{{}, store_, clock_, registry_, {}};
  rules::RuleManager rules_{rule_options(store_, clock_)};
  const StatusContext context_{flags_, clock_, clock_.now(), store_, scrape_, rules_, {}, {}};
  base::WorkerPool control_{{.name = "control", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool query_{{.name = "query", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool reload_{{.name = "reload", .threads = 1, .max_queue = 8, .nice = 0}};
  Router router_{control_, query_, reload_};
};

TEST_F(V1TargetsTest, ShowsTargetsOfAPool) {
  EXPECT_THAT(ask("/api/v1/targets", {{"state", "active"}}).body, HasSubstr("\"host\":\"a\""));
  EXPECT_THAT(ask("/api/v1/targets", {{"scrapePool", "other"}}).body,
              HasSubstr("\"activeTargets\":[]"));
}

TEST_F(V1TargetsTest, ShowsWhatEachRelabellingRuleDoes) {
  const std::string path = "/api/v1/targets/relabel_steps";
  const net::ServerResponse steps =
      ask(path, {{"scrapePool", "gpu"}, {"labels", "{\"__address__\":\"b:9500\"}"}});
  EXPECT_EQ(steps.status, 200);
  EXPECT_THAT(steps.body, HasSubstr("\"output\":{\"__address__\":\"b:9500\",\"host\":\"b\"},"
                                    "\"keep\":true"));
  EXPECT_THAT(steps.body, HasSubstr("\"action\":\"drop\"},\"output\":{},\"keep\":false"));
  EXPECT_EQ(ask(path, {{"labels", "{}"}}).status, 400);
  EXPECT_EQ(ask(path, {{"scrapePool", "gpu"}}).status, 400);
  EXPECT_EQ(ask(path, {{"scrapePool", "gpu"}, {"labels", "[1]"}}).status, 400);
  EXPECT_THAT(ask(path, {{"scrapePool", "none"}, {"labels", "{}"}}).body, HasSubstr("none"));
}

}  // namespace
}  // namespace vagt::engine::api
