// From a page's exemplars to what the store keeps.
#include <gmock/gmock.h>

#include "tests/scrape/scrape_fixture.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kType = "application/openmetrics-text; version=1.0.0";

class ExemplarsTest : public ::testing::Test {
 protected:
  ExemplarsTest() {
    ScrapeConfig config;
    config.job_name = "j";
    RelabelConfig rule;
    rule.regex = "drop_.*", rule.source_labels = {"__name__"}, rule.action = RelabelAction::Drop;
    config.metric_relabel = {rule};
    job = compile_job(config).value();
  }
  // One scrape, ten seconds after the last one.
  ScrapeOutcome scrape(const std::string& page) {
    at += 10s;
    return loop.ingest(test::page(page + "# EOF\n", kType),
                       {at, std::chrono::duration<double>(0.25)}, job, 1u << 20, 10s, store);
  }
  std::vector<tsdb::SeriesExemplars> kept() {
    const std::vector<Matcher> all[] = {{Matcher::make(MatchOp::Regex, "__name__", ".+").value()}};
    return store.exemplars()->select(all, from_millis(0), at + 1h);
  }

  tsdb::MemoryStore store;
  MetadataTable table;
  JobPtr job;
  ScrapeLoop loop{Labels::of({{"instance", "a:1"}, {"job", "j"}}), 7, table};
  Timestamp at = from_millis(1'700'000'000'000);
};

TEST_F(ExemplarsTest, AreKeptWithTheirSeries) {
  const auto outcome = scrape(
      "# TYPE h histogram\nh_bucket{le=\"1\"} 3 # {trace_id=\"a\\\"b\"} 0.5 1699999990.5\n"
      "h_bucket{le=\"+Inf\"} 3\n# TYPE c counter\nc_total 1 # {} 1\n"
      "# TYPE drop_c counter\ndrop_c_total 1 # {trace_id=\"x\"} 1\n");
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.counts.exemplars, 2u);
  const auto rows = kept();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].series.get("__name__"), "c_total");
  EXPECT_EQ(rows[0].exemplars[0].t, at);
  EXPECT_EQ(rows[1].series.to_string(), R"(h_bucket{instance="a:1", job="j", le="1.0"})");
  EXPECT_EQ(rows[1].exemplars[0].labels.get("trace_id"), "a\"b");
  EXPECT_EQ(rows[1].exemplars[0].value, 0.5);
  EXPECT_EQ(rows[1].exemplars[0].t, from_millis(1'699'999'990'500));
}

// The page shows an exemplar until the next event: only new ones are read.
TEST_F(ExemplarsTest, OneThatStaysOnThePageCountsOnce) {
  const std::string head = "# TYPE c counter\nc_total ";
  EXPECT_EQ(scrape(head + "1 # {trace_id=\"1\"} 1\n").counts.exemplars, 1u);
  EXPECT_EQ(scrape(head + "2 # {trace_id=\"1\"} 1\n").counts.exemplars, 0u);
  EXPECT_EQ(scrape(head + "3 # {trace_id=\"2\"} 1\n").counts.exemplars, 1u);
  ASSERT_THAT(kept(), SizeIs(1));
  EXPECT_THAT(kept()[0].exemplars, SizeIs(2));
  EXPECT_EQ(kept()[0].exemplars[1].labels.get("trace_id"), "2");
}

TEST_F(ExemplarsTest, ABadPageLeavesNone) {
  const auto outcome = scrape("# TYPE c counter\nc_total 1 # {trace_id=\"1\"} 1\nbad bad\n");
  EXPECT_NE(outcome.error, "");
  EXPECT_THAT(kept(), IsEmpty());
}

}  // namespace
}  // namespace vagt::scrape
