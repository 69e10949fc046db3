#include "scrape/scrape_manager.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/scrape/scrape_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Answers from a table by URL; holds answers back on request.
class ScriptedFetcher final : public Fetcher {
 public:
  struct Script {
    base::Mutex mutex;
    std::map<std::string, Result<net::HttpResponse>> pages;
    std::map<std::string, int> asked;
    std::vector<net::HttpRequest> requests;
    std::vector<net::HttpClient::Done> held;
    bool is_holding = false;
  };
  explicit ScriptedFetcher(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  void send(net::HttpRequest request, net::HttpClient::Profile,
            net::HttpClient::Done done) override {
    Result<net::HttpResponse> answer = Status(Code::Unavailable, "connection refused");
    {
      base::MutexLock lock(script_->mutex);
      const std::string& url = request.url.reveal();
      ++script_->asked[url];
      script_->requests.push_back(request);
      if (script_->is_holding) {
        script_->held.push_back(std::move(done));
        return;
      }
      if (const auto found = script_->pages.find(url); found != script_->pages.end())
        answer = found->second;
    }
    done(std::move(answer));
  }

 private:
  std::shared_ptr<Script> script_;
};

ScrapeConfig job(const std::string& name, std::vector<std::string> addresses,
                 const std::string& fingerprint = "1") {
  ScrapeConfig config;
  config.job_name = name;
  config.interval = 10s;
  config.timeout = 5s;
  config.fingerprint = name + fingerprint;
  TargetGroup group;
  for (std::string& address : addresses)
    group.targets.push_back({{"__address__", std::move(address)}});
  group.source = "static_configs/0";
  config.discovery.static_groups = {group};
  return config;
}

class ScrapeManagerTest : public ::testing::Test {
 protected:
  ScrapeManagerTest() {
    ScrapeManagerOptions options;
    options.on_commit = [this](const Committed&) { ++commits; };
    manager =
        std::make_unique<ScrapeManager>(std::move(options), store, clock, registry, base::Logger(),
                                        std::make_unique<ScriptedFetcher>(script));
  }
  void serve(const std::string& url, const std::string& body) {
    base::MutexLock lock(script->mutex);
    script->pages.insert_or_assign(url, test::page(body));
  }
  int asked(const std::string& url) {
    base::MutexLock lock(script->mutex);
    return script->asked[url];
  }
  // Time passes in steps of 100 ms, as the timer thread would see it.
  void run(Duration time) {
    for (Duration passed{0}; passed < time; passed += 100ms) {
      clock.advance(100ms);
      manager->step();
      manager->wait_idle();
    }
  }
  std::map<std::string, double> stored() {
    return test::samples_of(store, clock.now() - 1h, clock.now() + 1h);
  }
  size_t count(const std::string& prefix, bool stale_only = false) {
    size_t n = 0;
    for (const auto& [name, v] : stored())
      n += name.starts_with(prefix) && (!stale_only || is_stale(v));
    return n;
  }

  std::shared_ptr<ScriptedFetcher::Script> script = std::make_shared<ScriptedFetcher::Script>();
  test::ManualClock clock;
  tsdb::MemoryStore store;
  base::Registry registry;
  std::atomic<int> commits{0};
  std::unique_ptr<ScrapeManager> manager;
};

TEST_F(ScrapeManagerTest, ScrapesOncePerInterval) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1", "b:1"})}), IsOk());
  run(30s);
  EXPECT_EQ(asked("http://a:1/metrics"), 3);
  EXPECT_EQ(asked("http://b:1/metrics"), 3);
  EXPECT_EQ(commits, 6);
  const auto targets = manager->active_targets();
  ASSERT_THAT(targets, SizeIs(2));
  EXPECT_EQ(targets[0].health, Health::Up);
  EXPECT_EQ(targets[0].labels.to_string(), R"({instance="a:1", job="j"})");
  EXPECT_EQ(targets[0].samples_scraped, 1u);
  EXPECT_EQ(targets[1].health, Health::Down);
  EXPECT_EQ(targets[1].last_error, "Get \"http://b:1/metrics\": connection refused");
  EXPECT_EQ(count(R"(x{instance="a:1", job="j"})"), 3u);
  EXPECT_EQ(count(R"(up{instance="b:1", job="j"})"), 3u);
}

TEST_F(ScrapeManagerTest, SamplesCarryTheirDueTime) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(30s);
  std::vector<int64_t> times;
  auto querier = store.querier(clock.now() - 1h, clock.now());
  const Matcher x[] = {Matcher::equal("__name__", "x")};
  tsdb::SelectHints hints;
  hints.start = clock.now() - 1h, hints.end = clock.now();
  auto cursor = querier->select(x, hints);
  ASSERT_TRUE(cursor->next());
  SampleColumns columns;
  while (cursor->read(columns, 10)) {
  }
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns.t[1] - columns.t[0], 10s);
  EXPECT_EQ(columns.t[2] - columns.t[1], 10s);
}

TEST_F(ScrapeManagerTest, RequestsSayWhatTheyWant) {
  ScrapeConfig config = job("j", {"a:1"});
  config.params = {{"module", {"x y", "z"}}};
  config.metrics_path = "/probe";
  config.scheme = "https";
  ASSERT_THAT(manager->apply({config}), IsOk());
  run(10s);
  base::MutexLock lock(script->mutex);
  ASSERT_THAT(script->requests, SizeIs(1));
  const net::HttpRequest& request = script->requests[0];
  EXPECT_EQ(request.url.reveal(), "https://a:1/probe?module=x+y&module=z");
  EXPECT_EQ(request.timeout, 5s);
  EXPECT_TRUE(request.accept_compression);
  EXPECT_THAT(request.headers[0].second, HasSubstr("text/plain;version=0.0.4"));
  EXPECT_EQ(request.headers[1].second, "5");
}

TEST_F(ScrapeManagerTest, RelabellingNamesDropsAndMoves) {
  ScrapeConfig config = job("j", {"a:1", "b:1", "c:1"});
  RelabelConfig drop;
  drop.source_labels = {"__address__"}, drop.regex = "b.*", drop.action = RelabelAction::Drop;
  RelabelConfig path;
  path.target_label = "__metrics_path__", path.replacement = "/probe";
  RelabelConfig param;
  param.source_labels = {"__address__"}, param.target_label = "__param_target";
  RelabelConfig address;
  address.target_label = "__address__", address.replacement = "exporter:9";
  RelabelConfig name;
  name.source_labels = {"__param_target"}, name.target_label = "instance";
  config.relabel = {drop, path, param, address, name};
  ASSERT_THAT(manager->apply({config}), IsOk());
  const auto targets = manager->active_targets("j");
  ASSERT_THAT(targets, SizeIs(2));
  EXPECT_EQ(targets[0].scrape_url, "http://exporter:9/probe?target=a%3A1");
  EXPECT_EQ(targets[0].labels.get("instance"), "a:1");
  EXPECT_EQ(targets[0].discovered_labels.get("__address__"), "a:1");
  EXPECT_THAT(manager->dropped_targets(), SizeIs(1));
  EXPECT_EQ(manager->pools()[0].dropped, 1u);
}

TEST_F(ScrapeManagerTest, ASlowTargetIsNotAskedTwiceAtOnce) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  {
    base::MutexLock lock(script->mutex);
    script->is_holding = true;
  }
  for (int i = 0; i < 300; ++i) {
    clock.advance(100ms);
    manager->step();
  }
  EXPECT_EQ(asked("http://a:1/metrics"), 1);
  net::HttpClient::Done done;
  {
    base::MutexLock lock(script->mutex);
    script->is_holding = false;
    done = std::move(script->held.at(0));
  }
  done(Status(Code::Timeout, "timed out"));
  run(10s);
  EXPECT_EQ(asked("http://a:1/metrics"), 2);
  EXPECT_THAT(registry.render(), HasSubstr("vagt_scrape_skipped_total 2"));
}

TEST_F(ScrapeManagerTest, ReloadKeepsWhatIsUnchanged) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  for (int i = 0; i < 10; ++i) {
    run(3s);
    // The same, with another job beside it, and changed in a way that leaves the target alone.
    ScrapeConfig again = job("j", {"a:1", "n" + std::to_string(i) + ":1"}, std::to_string(i));
    ASSERT_THAT(manager->apply({again, job("k", {"c:1"})}), IsOk());
  }
  EXPECT_EQ(asked("http://a:1/metrics"), 3);
  EXPECT_EQ(count(R"(x{instance="a:1", job="j"})"), 3u);
  EXPECT_EQ(count(R"(x{instance="a:1", job="j"})", true), 0u);
  EXPECT_THAT(manager->active_targets(), SizeIs(3));
}

TEST_F(ScrapeManagerTest, ABadReloadChangesNothing) {
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  ScrapeConfig bad = job("j", {"b:1"}, "2");
  bad.relabel.emplace_back();  // no target_label
  EXPECT_THAT(manager->apply({bad}), test::StatusIs(Code::InvalidArgument, "scrape config \"j\""));
  EXPECT_EQ(manager->active_targets()[0].labels.get("instance"), "a:1");
}

TEST_F(ScrapeManagerTest, VanishedTargetsEndAfterAWhile) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(15s);
  ASSERT_THAT(manager->apply({}), IsOk());
  EXPECT_THAT(manager->active_targets(), SizeIs(0));
  run(5s);
  EXPECT_EQ(count("x{", true), 0u);
  run(20s);
  EXPECT_EQ(count("x{", true), 1u);
  EXPECT_EQ(count("up{", true), 1u);
}

TEST_F(ScrapeManagerTest, ATargetThatReturnsGoesOn) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(15s);
  ASSERT_THAT(manager->apply({}), IsOk());
  run(2s);
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(60s);
  EXPECT_EQ(count("x{", true), 0u);
  EXPECT_EQ(asked("http://a:1/metrics"), 7);
}

TEST_F(ScrapeManagerTest, AnotherIntervalEndsNoSeries) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(15s);
  ScrapeConfig faster = job("j", {"a:1"}, "2");
  faster.interval = 5s;
  ASSERT_THAT(manager->apply({faster}), IsOk());
  run(60s);
  EXPECT_EQ(count("x{", true), 0u);
  EXPECT_GE(asked("http://a:1/metrics"), 12);
}

TEST_F(ScrapeManagerTest, TargetLimitFailsAll) {
  ScrapeConfig config = job("j", {"a:1", "b:1"});
  config.limits.targets = 1;
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({config}), IsOk());
  run(10s);
  EXPECT_EQ(asked("http://a:1/metrics"), 0);
  EXPECT_THAT(manager->active_targets()[0].last_error, HasSubstr("target_limit exceeded"));
}

TEST_F(ScrapeManagerTest, BadTargetsAreNamed) {
  ScrapeConfig config = job("j", {"http://a:1", "", "b:1"});
  config.discovery.unsupported = {"consul_sd_configs"};
  ASSERT_THAT(manager->apply({config}), IsOk());
  EXPECT_THAT(manager->active_targets(), SizeIs(1));
  EXPECT_THAT(manager->pools()[0].errors,
              ElementsAre(HasSubstr("consul_sd_configs"), HasSubstr("not a valid hostname"),
                          HasSubstr("no address")));
}

TEST_F(ScrapeManagerTest, WallClockJumpsAreFollowed) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(20s);
  EXPECT_EQ(asked("http://a:1/metrics"), 2);
}

TEST_F(ScrapeManagerTest, MetadataByTarget) {
  serve("http://a:1/metrics", "# HELP x words\n# TYPE x gauge\nx 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(10s);
  const auto rows =
      manager->metadata([](const Labels& target) { return target.get("job") == "j"; });
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].metric, "x");
  EXPECT_EQ(rows[0].metadata.help, "words");
}

TEST_F(ScrapeManagerTest, FilesAppearChangeAndVanish) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("vagt-sd-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto file = folder / "t.json";
  const auto write = [&file](const std::string& text) {
    std::ofstream(file.string() + ".new") << text;
    std::filesystem::rename(file.string() + ".new", file);
  };
  write(R"([{"targets": ["a:1", "b:1"], "labels": {"rack": "r1"}}])");
  ScrapeConfig config = job("j", {});
  config.discovery.files = {{{(folder / "*.json").string()}, 5min}};
  ASSERT_THAT(manager->apply({config}), IsOk());
  run(1s);
  ASSERT_THAT(manager->active_targets(), SizeIs(2));
  EXPECT_EQ(manager->active_targets()[0].labels.get("rack"), "r1");
  EXPECT_EQ(manager->active_targets()[0].discovered_labels.get("__meta_filepath"), file.string());
  write(R"([{"targets": ["a:1"], "labels": {"rack": "r1"}}, {"targets": ["c:1"]}])");
  run(6s);
  EXPECT_THAT(manager->active_targets(), SizeIs(2));
  EXPECT_EQ(manager->active_targets()[1].labels.get("instance"), "c:1");
  write("[{\"targets\": 5}]");
  run(6s);
  EXPECT_THAT(manager->active_targets(), SizeIs(2)) << "a malformed file keeps its last targets";
  EXPECT_THAT(manager->pools()[0].errors, ElementsAre(HasSubstr("t.json:1:")));
  std::filesystem::remove(file);
  run(6s);
  EXPECT_THAT(manager->active_targets(), SizeIs(0));
  std::filesystem::remove_all(folder);
}

TEST_F(ScrapeManagerTest, UrlsThatListTargets) {
  const auto list = [this](const std::string& body, int status = 200) {
    net::HttpResponse answer = test::page(body, "application/json");
    answer.status = status;
    base::MutexLock lock(script->mutex);
    script->pages.insert_or_assign("http://sd/list", answer);
  };
  list(R"([{"targets": ["a:1"], "labels": {"rack": "r1"}}])");
  ScrapeConfig config = job("j", {});
  config.discovery.http.emplace_back().url = "http://sd/list";
  config.discovery.http[0].refresh_interval = 30s;
  ASSERT_THAT(manager->apply({config}), IsOk());
  run(1s);
  ASSERT_THAT(manager->active_targets(), SizeIs(1));
  EXPECT_EQ(manager->active_targets()[0].labels.get("rack"), "r1");
  EXPECT_EQ(manager->active_targets()[0].discovered_labels.get("__meta_url"), "http://sd/list");
  for (const auto& [body, status] :
       std::vector<std::pair<std::string, int>>{{"gone", 410}, {"{\"a\":", 200}, {"{}", 200}}) {
    list(body, status);
    run(30s);
    EXPECT_THAT(manager->active_targets(), SizeIs(1)) << body;
    EXPECT_THAT(manager->pools()[0].errors, ElementsAre(HasSubstr("http_sd_configs"))) << body;
  }
  list("[]");
  run(30s);
  EXPECT_THAT(manager->active_targets(), SizeIs(0));
  EXPECT_THAT(manager->pools()[0].errors, SizeIs(0));
}

TEST_F(ScrapeManagerTest, FailuresGoToTheirFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("vagt-failures-" + std::to_string(::getpid()));
  ScrapeConfig config = job("j", {"a:1"});
  config.failure_log_file = path;
  ASSERT_THAT(manager->apply({config}), IsOk());
  run(20s);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text,
              HasSubstr(R"(connection refused","job_name":"j","target":"http://a:1/metrics")"));
  std::filesystem::remove(path);
}

TEST_F(ScrapeManagerTest, RelabelStepsOfAPool) {
  ScrapeConfig config = job("j", {"a:1"});
  RelabelConfig rule;
  rule.source_labels = {"x"}, rule.target_label = "y";
  config.relabel = {rule};
  ASSERT_THAT(manager->apply({config}), IsOk());
  const auto steps = manager->relabel_steps("j", Labels::of({{"x", "1"}}));
  ASSERT_THAT(steps, IsOk());
  EXPECT_EQ(steps->at(0).second->to_string(), R"({x="1", y="1"})");
  EXPECT_THAT(manager->relabel_steps("k", Labels()), test::StatusIs(Code::NotFound));
}

TEST_F(ScrapeManagerTest, StopLeavesSeriesOpen) {
  serve("http://a:1/metrics", "x 1\n");
  ASSERT_THAT(manager->apply({job("j", {"a:1"})}), IsOk());
  run(10s);
  manager->stop();
  EXPECT_EQ(count("x{", true), 0u);
  EXPECT_FALSE(manager->apply({}).ok());
}

}  // namespace
}  // namespace vagt::scrape
