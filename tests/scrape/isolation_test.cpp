// What one target costs is its own: memory, workers, the program's end.
#include <gmock/gmock.h>

#include <latch>

#include "scrape/page_body.h"
#include "scrape/scrape_manager.h"
#include "tests/scrape/scrape_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PageBody, HoldsToItsLimitAndToTheBudget) {
  const auto budget = std::make_shared<net::BodyBudget>(3u << 20);
  const std::string mebibyte(1u << 20, 'x');
  {
    PageBody first(budget, 4u << 20), second(budget, 4u << 20), third(budget, 4u << 20);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(first.take(mebibyte)) << i;  // one free, three counted
    EXPECT_FALSE(first.take("x"));
    EXPECT_THAT(first.fault(), StatusIs(Code::LimitExceeded, "larger than its limit"));
    EXPECT_EQ(first.text().capacity(), std::string().capacity());  // what was refused is let go
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(second.take(mebibyte)) << i;  // so there is room
    EXPECT_TRUE(third.take(mebibyte));                                    // the free part
    EXPECT_FALSE(third.take("x"));
    EXPECT_THAT(third.fault(), StatusIs(Code::Unavailable, "together"));
    EXPECT_FALSE(third.take("x"));
    EXPECT_EQ(second.text().size(), 4 * mebibyte.size());
  }
  PageBody last(budget, 4u << 20);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(last.take(mebibyte)) << i;
}

// New series named "big" wait until the test lets them go.
class GatedStore final : public tsdb::Store {
 public:
  std::unique_ptr<tsdb::Appender> appender() override {
    return std::make_unique<GatedAppender>(*this, inner.appender());
  }
  std::unique_ptr<tsdb::Querier> querier(Timestamp mint, Timestamp maxt) override {
    return inner.querier(mint, maxt);
  }
  std::vector<std::pair<std::string, tsdb::Metadata>> metadata(
      std::string_view metric) const override {
    return inner.metadata(metric);
  }
  tsdb::StoreStats stats() const override { return inner.stats(); }
  tsdb::CardinalityStats cardinality(size_t top) const override { return inner.cardinality(top); }

  tsdb::MemoryStore inner;
  std::latch gate{1};

 private:
  struct GatedAppender final : tsdb::Appender {
    GatedAppender(GatedStore& of, std::unique_ptr<tsdb::Appender> appender)
        : store(of), inner(std::move(appender)) {}
    Result<tsdb::SeriesRef> series(const Labels& labels) override {
      if (labels.get(kMetricName) == "big") store.gate.wait();
      return inner->series(labels);
    }
    Code append(tsdb::SeriesRef ref, Sample sample) override { return inner->append(ref, sample); }
    void metadata(std::string_view metric, const tsdb::Metadata& metadata) override {
      inner->metadata(metric, metadata);
    }
    Status commit() override { return inner->commit(); }
    GatedStore& store;
    std::unique_ptr<tsdb::Appender> inner;
  };
};

// Answers at once: a large page at /big, a small one elsewhere.
class TwoPages final : public Fetcher {
 public:
  void send(net::HttpRequest request, net::HttpClient::Profile,
            net::HttpClient::Done done) override {
    const bool is_big = request.url.reveal().find("/big") != std::string::npos;
    const std::string comment = "# " + std::string(2u << 20, 'x') + "\n";
    done(test::page(is_big ? "big 1\n" + comment : "small 1\n"));
  }
};

TEST(Isolation, LargePagesDoNotHoldUpSmallOnes) {
  GatedStore store;
  test::ManualClock clock;
  base::Registry registry;
  ScrapeManager manager({}, store, clock, registry, base::Logger(), std::make_unique<TwoPages>());
  std::vector<ScrapeConfig> jobs;
  for (const std::string name : {"big1", "big2", "big3", "small"}) {
    ScrapeConfig job;
    job.job_name = name;
    job.metrics_path = name == "small" ? "/small" : "/big";
    job.interval = job.timeout = 1s;
    job.discovery.static_groups = {{{{{"__address__", "h:1"}}}, {}, "s"}};
    jobs.push_back(std::move(job));
  }
  ASSERT_THAT(manager.apply(jobs), test::IsOk());
  for (int i = 0; i < 20; ++i) clock.advance(100ms), manager.step();
  const auto small_is_up = [&] {
    return manager.active_targets("small").at(0).health == Health::Up;
  };
  for (int i = 0; i < 5000 && !small_is_up(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(small_is_up());
  EXPECT_EQ(manager.active_targets("big1").at(0).health, Health::Unknown);
  store.gate.count_down();
  manager.wait_idle();
  EXPECT_EQ(manager.active_targets("big1").at(0).health, Health::Up);
}

class HostilePage : public ::testing::Test {
 protected:
  ScrapeOutcome ingest(std::string text, std::stop_token stop = {}) {
    return loop.ingest(test::page(std::move(text)), {from_millis(1'700'000'000'000), {}, stop}, job,
                       64u << 20, 1s, store);
  }
  tsdb::MemoryStore store;
  MetadataTable table;
  ScrapeLoop loop{Labels::of({{"job", "j"}}), 1, table};
  const JobPtr job = compile_job(ScrapeConfig()).value();
};

TEST_F(HostilePage, IsLeftWhenTheProgramEnds) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "m{i=\"" + std::to_string(i) + "\"} 1\n";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ingest(text, stop.get_token()).code, Code::Cancelled);
  // Not even up=0: the target is not to blame, and goes on after the restart.
  EXPECT_THAT(test::samples_of(store, from_millis(0), from_millis(2'000'000'000'000)), IsEmpty());
  EXPECT_EQ(ingest(text).error, "");
}

TEST_F(HostilePage, AMillionLabelsOnOneSeriesAreRefused) {
  std::string text = "a{";
  for (int i = 0; i < 1'000'000; ++i) text += "l" + std::to_string(i) + "=\"v\",";
  EXPECT_EQ(ingest(text + "} 1\n").error,
            "label_limit exceeded (metric: a, number of labels: 1000000, limit: 32768)");
}

TEST_F(HostilePage, HalfAMillionSeriesAreTheMostUnlessTheJobSaysOtherwise) {
  std::string text;
  for (int i = 0; i < 500'001; ++i) text += "m{i=\"" + std::to_string(i) + "\"} 1\n";
  const ScrapeOutcome refused = ingest(text);
  EXPECT_EQ(refused.error, "sample limit exceeded (500001 samples, sample_limit 500000)");
  EXPECT_EQ(refused.counts.scraped, 500'001u);
  EXPECT_EQ(refused.counts.added, 0u);       // not one series was made for it
  EXPECT_EQ(store.stats().head_series, 5u);  // up and its like
  ScrapeConfig config;
  config.limits.samples = 600'000;
  const ScrapeOutcome outcome =
      loop.ingest(test::page(text), {from_millis(1'700'000'001'000), {}, {}},
                  compile_job(config).value(), 64u << 20, 1s, store);
  EXPECT_EQ(outcome.error, "");
}

TEST_F(HostilePage, IsNotQuotedAtLength) {
  for (const std::string& bad : {"# TYPE a " + std::string(1u << 20, 't') + "\n",
                                 "a{b=\"\xff" + std::string(1u << 20, 'x') + "\"} 1\n",
                                 "a " + std::string(1u << 20, 'n') + "\n"}) {
    const ScrapeOutcome outcome = ingest(bad);
    EXPECT_THAT(outcome.error, HasSubstr("line 1: "));
    EXPECT_LT(outcome.error.size(), 600u) << bad.substr(0, 20);
  }
}

}  // namespace
}  // namespace vagt::scrape
