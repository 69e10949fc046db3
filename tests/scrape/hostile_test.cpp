// Whatever a target does: its own up says so, the healthy one beside it loses no scrape, memory
// stays.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "net/compression.h"
#include "scrape/scrape_manager.h"
#include "tests/scrape/hostile_server.h"
#include "tests/scrape/scrape_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::HostileServer;
using ::testing::HasSubstr;

constexpr std::string_view kType = "Content-Type: text/plain; version=0.0.4\r\n";

std::string head(std::string_view more = "") {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n" + std::string(kType) + std::string(more) +
         "\r\n";
}
HostileServer::Behaviour says(std::string text) {
  return [text](const HostileServer::Send& send, std::stop_token) { send(text); };
}

size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  size_t pages = 0, resident = 0;
  status >> pages >> resident;
  return resident * 4096;
}

std::map<std::string, HostileServer::Behaviour> behaviours() {
  std::map<std::string, HostileServer::Behaviour> all;
  all["/good"] = says(head() + "good 1\n");
  all["/endless"] = [](const HostileServer::Send& send, std::stop_token stop) {
    std::string block;
    for (int i = 0; i < 2000; ++i)
      block += "endless_metric_with_a_name{n=\"" + std::to_string(i) + "\"} 1\n";
    if (!send(head())) return;
    while (!stop.stop_requested() && send(block)) {
    }
  };
  all["/drip"] = [](const HostileServer::Send& send, std::stop_token stop) {
    if (!send(head())) return;
    while (!stop.stop_requested() && send("a")) std::this_thread::yield();
  };
  all["/silent"] = [](const HostileServer::Send& send, std::stop_token stop) {
    while (!stop.stop_requested() && send("")) std::this_thread::sleep_for(5ms);
  };
  all["/bomb"] = says(head("Content-Encoding: gzip\r\n") + net::gzip(std::string(200u << 20, '#')));
  all["/lying"] = says(head("Content-Length: 1000\r\n") + "a 1\n");
  all["/cut"] = says(head("Transfer-Encoding: chunked\r\n") + "5\r\na 1\nb\r\n");
  all["/loop"] = says(
      "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n");
  all["/binary"] = says(head() + std::string("\x7f"
                                             "ELF\0\1\2\xff\xfe",
                                             9));
  all["/nul"] = says(head() + std::string("a\0b 1\n", 6));
  all["/utf8"] = says(head() + "a{b=\"\xc3\x28\"} 1\n");
  all["/longline"] = says(head() + "a{b=\"" + std::string(16u << 20, 'x') + "\n");
  all["/html"] = says(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>log in</html>");
  all["/brokengzip"] = says(head("Content-Encoding: gzip\r\n") + "this is no gzip");
  all["/garbage"] = says("this is not HTTP at all\r\n\r\n");
  return all;
}

class HostileTest : public ::testing::Test {
 protected:
  static ScrapeConfig job(const std::string& path, const std::string& address) {
    ScrapeConfig config;
    config.job_name = path.substr(1);
    config.metrics_path = path;
    config.interval = 10s;
    // Only those who would never end wait for the timeout; the others may be slow on a busy
    // machine.
    config.timeout = path == "/drip" || path == "/silent" ? 500ms : config.interval;
    config.discovery.static_groups = {{{{{"__address__", address}}}, {}, "s"}};
    return config;
  }
  void scrape_once() {
    for (int i = 0; i < 100; ++i) clock.advance(100ms), manager->step();
    manager->wait_idle();
  }
  std::string error_of(const std::string& pool) {
    return manager->active_targets(pool).at(0).last_error;
  }

  HostileServer server{behaviours()};
  test::ManualClock clock;
  tsdb::MemoryStore store;
  base::Registry registry;
  std::unique_ptr<ScrapeManager> manager = std::make_unique<ScrapeManager>(
      ScrapeManagerOptions(), store, clock, registry, base::Logger());
};

TEST_F(HostileTest, EachIsNamedAndTheOthersAreScraped) {
  std::vector<ScrapeConfig> jobs;
  for (const auto& [path, behaviour] : behaviours()) jobs.push_back(job(path, server.address()));
  jobs.push_back(job("/refused", "127.0.0.1:1"));
  ASSERT_THAT(manager->apply(jobs), test::IsOk());
  const size_t rest = resident_bytes();
  for (int round = 0; round < 3; ++round) {
    scrape_once();
    EXPECT_EQ(error_of("good"), "") << round;
  }
  EXPECT_LT(resident_bytes(), rest + (300u << 20));
  const std::map<std::string, std::string> reasons = {{"drip", ""},
                                                      {"silent", ""},
                                                      {"bomb", "body size limit exceeded"},
                                                      {"lying", ""},
                                                      {"cut", ""},
                                                      {"loop", "redirect"},
                                                      {"binary", "line 1"},
                                                      {"nul", "line 1"},
                                                      {"utf8", "invalid UTF-8"},
                                                      {"html", "Content-Type"},
                                                      {"brokengzip", ""},
                                                      {"garbage", ""},
                                                      {"longline", "line 1"},
                                                      {"refused", ""},
                                                      {"endless", ""}};
  for (const auto& [pool, reason] : reasons) {
    const TargetView view = manager->active_targets(pool).at(0);
    EXPECT_EQ(view.health, Health::Down) << pool;
    EXPECT_NE(view.last_error, "") << pool;
    EXPECT_THAT(view.last_error, HasSubstr(reason)) << pool;
    EXPECT_LT(view.last_error.size(), 600u) << pool;
  }
  // The healthy target's three scrapes are all there.
  const auto all = test::samples_of(store, clock.now() - 1h, clock.now());
  size_t good = 0;
  for (const auto& [name, value] : all) good += name.starts_with("good{") && value == 1;
  EXPECT_EQ(good, 3u);
}

TEST_F(HostileTest, LimitsOfTheJobHold) {
  std::vector<ScrapeConfig> jobs = {job("/endless", server.address())};
  jobs[0].limits.body_size_bytes = 100'000;
  ASSERT_THAT(manager->apply(jobs), test::IsOk());
  scrape_once();
  EXPECT_THAT(error_of("endless"), HasSubstr("body size limit exceeded"));
}

TEST(HostilePages, NewSeriesAtEachScrapeAreBounded) {
  tsdb::MemoryStoreOptions options;
  options.max_series = 1000;
  tsdb::MemoryStore store(options);
  MetadataTable table;
  ScrapeLoop loop(Labels::of({{"job", "j"}}), 1, table);
  const JobPtr job = compile_job(ScrapeConfig()).value();
  for (int round = 0; round < 20; ++round) {
    std::string page;
    for (int i = 0; i < 200; ++i)
      page += "m{r=\"" + std::to_string(round) + "\",i=\"" + std::to_string(i) + "\"} 1\n";
    const auto outcome =
        loop.ingest(test::page(page), {from_millis(1'700'000'000'000 + round * 1000), {}}, job,
                    1 << 20, 1s, store);
    EXPECT_EQ(outcome.error, "");
    if (round > 5) {
      EXPECT_EQ(outcome.counts.refused, 200u);
      EXPECT_THAT(outcome.warnings, ::testing::Contains(HasSubstr("new series refused")));
    }
  }
  EXPECT_LE(loop.cached_lines(), 200u);
}

TEST(HostilePages, TimesYearsAwayAreCounted) {
  tsdb::MemoryStoreOptions options;
  options.retention = std::chrono::hours(24);
  test::ManualClock clock;
  options.clock = &clock;
  tsdb::MemoryStore store(options);
  MetadataTable table;
  ScrapeLoop loop(Labels::of({{"job", "j"}}), 1, table);
  const JobPtr job = compile_job(ScrapeConfig()).value();
  ASSERT_EQ(loop.ingest(test::page("b 1\n"), {clock.now(), {}}, job, 1 << 20, 1s, store).error, "");
  clock.advance(1s);
  const std::string ahead = std::to_string(to_millis(clock.now() + 24h * 3650));
  const auto page = test::page("old 1 1000\nb 2\nfuture 1 " + ahead + "\n");
  const auto outcome = loop.ingest(page, {clock.now(), {}}, job, 1 << 20, 1s, store);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.counts.out_of_bounds, 2u);
  EXPECT_THAT(outcome.warnings, ::testing::ElementsAre(HasSubstr("too old or too far ahead")));
  EXPECT_LE(*store.stats().max_time, clock.now());
}

// Quadratic work would not end in time.
TEST(HostilePages, ManyLabelsAndRepeatsTakeLinearTime) {
  tsdb::MemoryStore store;
  MetadataTable table;
  ScrapeLoop loop(Labels::of({{"job", "j"}}), 1, table);
  const JobPtr job = compile_job(ScrapeConfig()).value();
  std::string page = "a{";
  for (int i = 0; i < 20'000; ++i) page += "l" + std::to_string(i) + "=\"v\",";
  page += "} 1\n";
  for (int i = 0; i < 100'000; ++i) page += "same 1\n";
  for (int round = 0; round < 2; ++round) {
    const auto outcome =
        loop.ingest(test::page(page), {from_millis(1'700'000'000'000 + round * 1000), {}}, job,
                    16 << 20, 1s, store);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.counts.repeated, 99'999u);
  }
}

}  // namespace
}  // namespace vagt::scrape
