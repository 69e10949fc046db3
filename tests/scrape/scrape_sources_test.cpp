// The manager and the sources that run by themselves: batches, sharing, errors, reloads.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "scrape/scrape_manager.h"
#include "tests/scrape/scrape_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What a test publishes through a source; outlives it.
struct Channel {
  base::Mutex mutex;
  base::CondVar changed;
  DiscoverySink* sink VAGT_GUARDED_BY(mutex) = nullptr;
  int started VAGT_GUARDED_BY(mutex) = 0, stopped VAGT_GUARDED_BY(mutex) = 0;

  void publish(std::optional<std::vector<std::string>> addresses,
               const Status& status = {}) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex);
    ASSERT_TRUE(
        changed.wait_for(lock, 10s, [this]() VAGT_NO_THREAD_ANALYSIS { return sink != nullptr; }));
    std::optional<TargetGroups> groups;
    if (addresses) {
      groups.emplace(1);
      for (auto& address : *addresses) groups->at(0).targets.push_back({{"__address__", address}});
    }
    sink->publish(std::move(groups), status);
  }
};

class ChannelSource final : public DiscoverySource {
 public:
  explicit ChannelSource(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  std::string_view kind() const override { return "channel"; }
  bool is_refreshed() const override { return true; }
  void run(std::stop_token stop, DiscoverySink& sink) override VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(channel_->mutex);
    ++channel_->started, channel_->sink = &sink;
    channel_->changed.notify_all();
    channel_->changed.wait(lock, stop, [] { return false; });
    ++channel_->stopped, channel_->sink = nullptr;
  }

 private:
  const std::shared_ptr<Channel> channel_;
};

class NoFetcher final : public Fetcher {
 public:
  void send(net::HttpRequest, net::HttpClient::Profile, net::HttpClient::Done done) override {
    done(test::page("x 1\n"));
  }
};

ScrapeConfig job(const std::string& name, const std::string& source,
                 const std::string& fingerprint = "1") {
  ScrapeConfig config;
  config.job_name = name;
  config.interval = 10s, config.timeout = 5s;
  config.fingerprint = name + fingerprint;
  // The planner below takes the fingerprint for the source's name.
  if (!source.empty()) config.discovery.dns.push_back({{}, source});
  return config;
}

class ScrapeSourcesTest : public ::testing::Test {
 protected:
  ScrapeSourcesTest() {
    ScrapeManagerOptions options;
    options.discovery = [this](const DiscoveryConfig& config) {
      std::vector<PlannedSource> planned;
      for (const auto& section : config.dns) {
        auto& channel = channels[section.fingerprint];
        if (channel == nullptr) channel = std::make_shared<Channel>();
        planned.push_back(
            {section.fingerprint, [channel] { return std::make_unique<ChannelSource>(channel); }});
      }
      return planned;
    };
    manager = std::make_unique<ScrapeManager>(std::move(options), store, clock, registry,
                                              base::Logger(), std::make_unique<NoFetcher>());
  }
  std::vector<std::string> active(const std::string& pool = "") {
    std::vector<std::string> out;
    for (const auto& target : manager->active_targets(pool))
      out.push_back(std::string(target.labels.get("instance")));
    return out;
  }

  std::map<std::string, std::shared_ptr<Channel>> channels;
  test::ManualClock clock;
  tsdb::MemoryStore store;
  base::Registry registry;
  std::unique_ptr<ScrapeManager> manager;
};

TEST_F(ScrapeSourcesTest, TheFirstNewsCountAtOnceLaterOnesInBatches) {
  ASSERT_THAT(manager->apply({job("j", "s")}), IsOk());
  channels["s"]->publish({{"a:1"}});
  manager->step();
  EXPECT_THAT(active(), ElementsAre("a:1"));
  for (int i = 0; i < 100; ++i) channels["s"]->publish({{"a:1", "b:" + std::to_string(i)}});
  manager->step();
  EXPECT_THAT(active(), ElementsAre("a:1"));
  clock.advance(5s);
  manager->step();
  EXPECT_THAT(active(), ElementsAre("a:1", "b:99"));
}

TEST_F(ScrapeSourcesTest, AFailingSourceKeepsItsTargetsAndSaysSo) {
  ASSERT_THAT(manager->apply({job("j", "s")}), IsOk());
  channels["s"]->publish({{"a:1"}});
  manager->step();
  channels["s"]->publish(std::nullopt, Status(Code::Unavailable, "connection refused"));
  clock.advance(5s);
  manager->step();
  EXPECT_THAT(active(), ElementsAre("a:1"));
  EXPECT_THAT(manager->pools()[0].errors, ElementsAre("channel_sd_configs: connection refused"));
  const std::string page = registry.render();
  EXPECT_THAT(page,
              ::testing::HasSubstr("vagt_scrape_discovery_failing_sources{scrape_job=\"j\"} 1"));
  EXPECT_THAT(
      page, ::testing::HasSubstr("prometheus_sd_refresh_failures_total{mechanism=\"channel\"} 1"));
  EXPECT_THAT(page, ::testing::HasSubstr(
                        "prometheus_sd_discovered_targets{config=\"j\",name=\"scrape\"} 1"));
  channels["s"]->publish({{"a:1"}});
  clock.advance(5s);
  manager->step();
  EXPECT_THAT(manager->pools()[0].errors, IsEmpty());
}

TEST_F(ScrapeSourcesTest, EqualSectionsShareOneSource) {
  ASSERT_THAT(manager->apply({job("j", "s"), job("k", "s")}), IsOk());
  channels["s"]->publish({{"a:1"}});
  manager->step();
  EXPECT_THAT(active("j"), ElementsAre("a:1"));
  EXPECT_THAT(active("k"), ElementsAre("a:1"));
  base::MutexLock lock(channels["s"]->mutex);
  EXPECT_EQ(channels["s"]->started, 1);
}

// A reload that changes a job but not its section leaves the source running, and its targets.
TEST_F(ScrapeSourcesTest, AReloadStopsOnlyWhatIsGone) {
  ASSERT_THAT(manager->apply({job("j", "s"), job("k", "t")}), IsOk());
  channels["s"]->publish({{"a:1"}});
  channels["t"]->publish({{"b:1"}});
  manager->step();
  ASSERT_THAT(manager->apply({job("j", "s", "2")}), IsOk());
  EXPECT_THAT(active(), ElementsAre("a:1"));
  {
    base::MutexLock lock(channels["s"]->mutex);
    EXPECT_EQ(channels["s"]->started, 1);
    EXPECT_EQ(channels["s"]->stopped, 0);
  }
  base::MutexLock lock(channels["t"]->mutex);
  EXPECT_EQ(channels["t"]->stopped, 1);
}

TEST_F(ScrapeSourcesTest, StoppingJoinsTheSources) {
  ASSERT_THAT(manager->apply({job("j", "s")}), IsOk());
  channels["s"]->publish({{"a:1"}});
  manager->stop();
  base::MutexLock lock(channels["s"]->mutex);
  EXPECT_EQ(channels["s"]->stopped, 1);
}

// Files: the real clock, because the watcher's events are real.
TEST(ScrapeFiles, AReplacedFileCountsAtOnce) {
  const std::string folder = ::testing::TempDir() + "targets." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto replace = [&folder](const std::string& text) {
    std::ofstream(folder + "/.new") << text;
    std::filesystem::rename(folder + "/.new", folder + "/t.json");
  };
  replace(R"([{"targets":["a:1"]}])");
  SystemClock clock;
  tsdb::MemoryStore store;
  base::Registry registry;
  ScrapeManagerOptions options;
  options.discovery_poll = options.watched_poll = 1h;  // only what is noticed counts
  ScrapeManager manager(options, store, clock, registry, base::Logger(),
                        std::make_unique<NoFetcher>());
  ScrapeConfig config = job("j", "");
  config.discovery.files.push_back({{folder + "/*.json"}, 5min});
  ASSERT_THAT(manager.apply({config}), IsOk());
  manager.start();
  const auto becomes = [&manager](const std::vector<std::string>& wanted) {
    for (int i = 0; i < 5000; ++i) {
      std::vector<std::string> out;
      for (const auto& target : manager.active_targets())
        out.push_back(std::string(target.labels.get("instance")));
      if (out == wanted) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  };
  EXPECT_TRUE(becomes({"a:1"}));
  replace(R"([{"targets":["a:1","b:1"]}])");
  EXPECT_TRUE(becomes({"a:1", "b:1"}));
  replace("[{");  // malformed: the last targets stay
  for (int i = 0; i < 5000 && manager.pools()[0].errors.empty(); ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_THAT(manager.pools()[0].errors, SizeIs(1));
  EXPECT_TRUE(becomes({"a:1", "b:1"}));
  std::filesystem::remove(folder + "/t.json");
  EXPECT_TRUE(becomes({}));
  manager.stop();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace vagt::scrape
