#include "scrape/series_cache.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "tests/scrape/scrape_fixture.h"
#include "tests/support/status_matchers.h"

namespace vagt::scrape {
namespace {

using test::IsOk;
using test::StatusIs;
using tsdb::SeriesRef;

// Remembers what was asked of it; refs are numbers in order of creation.
class NotingAppender final : public tsdb::Appender {
 public:
  Result<SeriesRef> series(const Labels& labels) override {
    ++lookups;
    const auto [it, is_new] = refs.try_emplace(labels, static_cast<SeriesRef>(refs.size() + 1));
    names[it->second] = labels.to_string();
    return it->second;
  }
  Code append(SeriesRef ref, Sample sample) override {
    if (retired.contains(ref)) return Code::NotFound;
    appended.push_back(names[ref] + (is_stale(sample.v)
                                         ? " stale"
                                         : " " + std::to_string(static_cast<int>(sample.v))));
    return Code::Ok;
  }
  void metadata(std::string_view, const tsdb::Metadata&) override {}
  Status commit() override { return {}; }

  std::map<Labels, SeriesRef> refs;
  std::map<SeriesRef, std::string> names;
  std::set<SeriesRef> retired;
  std::vector<std::string> appended;
  int lookups = 0;
};

class SeriesCacheTest : public ::testing::Test {
 protected:
  // What the page appended; the cache takes it over when it is good.
  std::vector<std::string> scrape(std::string_view body,
                                  exposition::Format format = exposition::Format::Text) {
    appender.appended.clear();
    appender.lookups = 0;
    counts = {};
    auto staged = cache.ingest(body, format, from_millis(1000), target, rules, appender, counts);
    status = staged.status();
    if (staged) {
      changed = staged->is_changed;
      cache.accept(std::move(*staged));
    }
    return appender.appended;
  }

  NotingAppender appender;
  SeriesCache cache{42};
  Labels target;
  SampleRules rules;
  PageCounts counts;
  Status status;
  bool changed = false;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(SeriesCacheTest, ARepeatedPageAsksForNoSeries) {
  const std::string page = "# TYPE a gauge\na{x=\"1\"} 1\na{x=\"2\"} 2\nb 3\n";
  EXPECT_THAT(scrape(page), ElementsAre(R"(a{x="1"} 1)", R"(a{x="2"} 2)", "b 3"));
  EXPECT_EQ(counts.added, 3u);
  EXPECT_THAT(scrape(page), ElementsAre(R"(a{x="1"} 1)", R"(a{x="2"} 2)", "b 3"));
  EXPECT_EQ(appender.lookups, 0);
  EXPECT_EQ(counts.added, 0u);
  EXPECT_FALSE(changed);
}

TEST_F(SeriesCacheTest, OnlyWhatIsNewIsParsed) {
  scrape("a 1\nb 2\nc 3\nd 4\n");
  EXPECT_THAT(scrape("a 1\nnew 9\nb 2\nc 3\nd 4\n"),
              ElementsAre("a 1", "new 9", "b 2", "c 3", "d 4"));
  EXPECT_EQ(appender.lookups, 1);
  EXPECT_THAT(scrape("d 1\nc 2\nnew 3\nb 4\na 5\n"),
              ElementsAre("d 1", "c 2", "new 3", "b 4", "a 5"));
  EXPECT_EQ(appender.lookups, 0);
}

TEST_F(SeriesCacheTest, VanishedSeriesEnd) {
  scrape("a 1\nb 2\nc 3\n");
  EXPECT_THAT(scrape("a 1\nc 3\n"), ElementsAre("a 1", "c 3", "b stale"));
  EXPECT_THAT(scrape("a 1\n"), ElementsAre("a 1", "c stale"));
  EXPECT_THAT(scrape(""), ElementsAre("a stale"));
  EXPECT_THAT(scrape(""), IsEmpty());
  EXPECT_THAT(scrape("b 1\n"), ElementsAre("b 1"));
}

TEST_F(SeriesCacheTest, FirstOfARepeatedSeriesCounts) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(scrape("a 1\na 2\nb 3\n"), ElementsAre("a 1", "b 3")) << i;
    EXPECT_EQ(counts.repeated, 1u) << i;
    EXPECT_EQ(counts.scraped, 3u) << i;
  }
  EXPECT_THAT(scrape("b 3\na 2\n"), ElementsAre("b 3", "a 2"));
  EXPECT_THAT(scrape("b 3\n"), ElementsAre("b 3", "a stale"));
}

TEST_F(SeriesCacheTest, OtherSpellingsAreTheSameSeries) {
  EXPECT_THAT(scrape("a{x=\"1\",y=\"2\"} 1\na{y=\"2\",x=\"1\"} 5\n"),
              ElementsAre(R"(a{x="1", y="2"} 1)"));
  EXPECT_EQ(counts.repeated, 1u);
  // Only the other spelling is left: it goes on, and is not ended.
  EXPECT_THAT(scrape("a{y=\"2\",x=\"1\"} 5\n"), ElementsAre(R"(a{x="1", y="2"} 5)"));
  EXPECT_THAT(scrape("a{x=\"1\",y=\"2\"} 6\n"), ElementsAre(R"(a{x="1", y="2"} 6)"));
}

TEST_F(SeriesCacheTest, ABadPageLeavesTheCacheAsItWas) {
  scrape("a 1\nb 2\n");
  scrape("a 1\nnew 5\nb two\n");
  EXPECT_THAT(status, StatusIs(Code::InvalidArgument, "line 3"));
  EXPECT_THAT(scrape("a 1\nb 2\n"), ElementsAre("a 1", "b 2"));
  EXPECT_EQ(appender.lookups, 0);
}

TEST_F(SeriesCacheTest, StaleOnceThenBack) {
  scrape("a 1\nb 2\n");
  appender.appended.clear();
  cache.accept(cache.mark_stale(from_millis(2000), appender));
  EXPECT_THAT(appender.appended, ElementsAre("a stale", "b stale"));
  appender.appended.clear();
  cache.accept(cache.mark_stale(from_millis(3000), appender));
  EXPECT_THAT(appender.appended, IsEmpty());
  EXPECT_THAT(scrape("a 1\n"), ElementsAre("a 1"));  // b ended before
  EXPECT_EQ(appender.lookups, 0);
}

TEST_F(SeriesCacheTest, RetiredRefsAreAskedForAgain) {
  scrape("a 1\nb{x=\"1\"} 2\nc 3\n");
  appender.retired = {SeriesRef{2}};
  appender.refs.erase(Labels::of({{"__name__", "b"}, {"x", "1"}}));
  appender.refs[Labels::of({{"__name__", "filler"}})] = SeriesRef{77};
  EXPECT_THAT(scrape("a 1\nb{x=\"1\"} 4\nc 3\n"), ElementsAre("a 1", R"(b{x="1"} 4)", "c 3"));
  EXPECT_THAT(scrape("a 1\nb{x=\"1\"} 5\nc 3\n"), ElementsAre("a 1", R"(b{x="1"} 5)", "c 3"));
  EXPECT_EQ(appender.lookups, 0);
}

TEST_F(SeriesCacheTest, DroppedSeriesStayDropped) {
  RelabelConfig drop;
  drop.source_labels = {"__name__"}, drop.regex = "noisy.*", drop.action = RelabelAction::Drop;
  rules.metric_relabel = Relabeler::compile({&drop, 1}).value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(scrape("a 1\nnoisy_x 2\n"), ElementsAre("a 1"));
    EXPECT_EQ(counts.scraped, 2u);
    EXPECT_EQ(counts.kept, 1u);
  }
}

TEST_F(SeriesCacheTest, BoundsAreFloatsOnlyInTheirFamily) {
  const std::string page =
      "# TYPE s histogram\ns_bucket{le=\"1\"} 4\ns_bucket{le=\"2.5\"} 6\nplain_bucket{le=\"1\"} 4\n"
      "# TYPE q summary\nq{quantile=\"0\"} 1\n# TYPE g gauge\ng{le=\"1\",quantile=\"1\"} 2\n";
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(scrape(page), ElementsAre(R"(s_bucket{le="1.0"} 4)", R"(s_bucket{le="2.5"} 6)",
                                          R"(plain_bucket{le="1"} 4)", R"(q{quantile="0.0"} 1)",
                                          R"(g{le="1", quantile="1"} 2)"));
  }
}

// Found by the fuzz target: the line is known, but it stood below another family's TYPE.
TEST_F(SeriesCacheTest, BelowAnotherTypeTheSameLineIsAnotherSeries) {
  EXPECT_THAT(scrape("# TYPE s summary\nq{quantile=\"0\"} 4\n"),
              ElementsAre(R"(q{quantile="0"} 4)"));
  EXPECT_THAT(scrape("# TYPE q summary\nq{quantile=\"0\"} 5\n"),
              ElementsAre(R"(q{quantile="0.0"} 5)", R"(q{quantile="0"} stale)"));
}

// Found by the fuzz target: another order led the prediction back to a line that had come already.
TEST_F(SeriesCacheTest, ARepetitionIsSeenInAnotherOrderToo) {
  scrape("c 1\ng 2\n");
  EXPECT_THAT(scrape("g 2\nc 1\ng 3\n"), ElementsAre("g 2", "c 1"));
  EXPECT_EQ(counts.repeated, 1u);
  EXPECT_EQ(counts.duplicate_time, 0u);
}

TEST_F(SeriesCacheTest, SampleLimitFailsThePage) {
  rules.limits.samples = 2;
  scrape("a 1\nb 2\nc 3\nd 4\n");
  EXPECT_THAT(status, StatusIs(Code::LimitExceeded, "sample limit exceeded"));
  EXPECT_EQ(counts.scraped, 4u);
  EXPECT_THAT(scrape("a 1\nb 2\n"), ElementsAre("a 1", "b 2"));
}

TEST_F(SeriesCacheTest, TimestampsAndTheirStaleness) {
  EXPECT_THAT(scrape("a 1 5000\nb 2\n"), ElementsAre("a 1", "b 2"));
  EXPECT_THAT(scrape("b 2\n"),
              ElementsAre("b 2"));  // a told its own time: its absence says nothing
  rules.track_timestamps_staleness = true;
  scrape("a 1 5000\nb 2\n");
  EXPECT_THAT(scrape("b 2\n"), ElementsAre("b 2", "a stale"));
}

// Whatever pages come, the cache says what a fresh reading would, and its memory ends nothing
// twice.
TEST_F(SeriesCacheTest, AgreesWithReadingAfresh) {
  std::mt19937 random(7);
  std::set<std::string> live;
  for (int round = 0; round < 400; ++round) {
    std::string page;
    std::set<std::string> now;
    std::vector<std::string> expected;
    const int lines = static_cast<int>(random() % 12);
    for (int i = 0; i < lines; ++i) {
      const int kind = static_cast<int>(random() % 4), value = static_cast<int>(random() % 100);
      const std::string n = std::to_string(random() % 6);
      if (kind == 0) {
        page += "# HELP m" + n + " text\n";
        continue;
      }
      const std::string text = kind == 1   ? "m" + n
                               : kind == 2 ? "m{a=\"" + n + "\",b=\"c\"}"
                                           : "m{b=\"c\",a=\"" + n + "\"}";
      const std::string labels = kind == 1 ? "m" + n : "m{a=\"" + n + "\", b=\"c\"}";
      page += text + " " + std::to_string(value) + "\n";
      if (now.insert(labels).second) expected.push_back(labels + " " + std::to_string(value));
    }
    for (const std::string& gone : live) {
      if (!now.contains(gone)) expected.push_back(gone + " stale");
    }
    ASSERT_THAT(scrape(page), ::testing::UnorderedElementsAreArray(expected))
        << "round " << round << "\n"
        << page;
    live = std::move(now);
  }
}

}  // namespace
}  // namespace vagt::scrape
