// What happened to people in the field: sensors that read NaN, the edges of windows, series that
// are not there.
#include "tests/query/query_fixture.h"

namespace vagt::query {
namespace {

using FieldCases = QueryTest;

// Bounds are compared as text: a scrape stores them with their fraction.
TEST_F(FieldCases, HistogramBoundsAreText) {
  add("step_seconds_bucket{le=\"1.0\"}", {4});
  add("step_seconds_bucket{le=\"2.5\"}", {6});
  add("step_seconds_bucket{le=\"+Inf\"}", {7});
  add("plain_bucket{le=\"1\"}", {4});
  EXPECT_EQ(at(0, "step_seconds_bucket{le=\"1\"}"), "");
  EXPECT_EQ(at(0, "step_seconds_bucket{le=\"1.0\"}"), "step_seconds_bucket{le=\"1.0\"} 4");
  EXPECT_EQ(at(0, "step_seconds_bucket{le=\"2.5\"}"), "step_seconds_bucket{le=\"2.5\"} 6");
  EXPECT_EQ(at(0, "step_seconds_bucket{le=\"+Inf\"}"), "step_seconds_bucket{le=\"+Inf\"} 7");
  EXPECT_EQ(at(0, "plain_bucket{le=\"1\"}"), "plain_bucket{le=\"1\"} 4");
  // The quantile reads either spelling.
  EXPECT_EQ(at(0, "histogram_quantile(0.5, step_seconds_bucket)"), "{} 0.875");
}

TEST_F(FieldCases, NanSensors) {
  add("bmc_temp_celsius{id=\"1\"}", {40});
  add("bmc_temp_celsius{id=\"2\"}", {normal_nan()});
  add("bmc_temp_celsius{id=\"3\"}", {95});
  EXPECT_EQ(at(0, "max(bmc_temp_celsius)"), "{} 95");
  EXPECT_EQ(at(0, "min(bmc_temp_celsius)"), "{} 40");
  EXPECT_EQ(at(0, "avg(bmc_temp_celsius)"), "{} NaN");
  EXPECT_EQ(at(0, "count(bmc_temp_celsius)"), "{} 3");
  EXPECT_EQ(at(0, "count(bmc_temp_celsius > 90)"), "{} 1");
  EXPECT_EQ(at(0, "count(bmc_temp_celsius <= 90)"), "{} 1");
  EXPECT_EQ(at(0, "avg(bmc_temp_celsius == bmc_temp_celsius)"), "{} 67.5");
  EXPECT_EQ(at(0, "topk(1, bmc_temp_celsius)"), "bmc_temp_celsius{id=\"3\"} 95");
  EXPECT_EQ(at(0, "bmc_temp_celsius != bmc_temp_celsius"), "bmc_temp_celsius{id=\"2\"} NaN");
  EXPECT_EQ(at(0, "absent(bmc_temp_celsius{id=\"2\"})"), "");
  EXPECT_EQ(at(0, "bmc_temp_celsius > 90"), "bmc_temp_celsius{id=\"3\"} 95");
}

TEST_F(FieldCases, EdgesOfWindows) {
  add("x{job=\"a\"}", std::vector<double>(11, 1), 60);
  EXPECT_EQ(at(600, "count_over_time(x[5m])"), "{job=\"a\"} 5");
  EXPECT_EQ(at(600, "rate(x[1m])"), "");
  EXPECT_EQ(at(600, "count_over_time(x[1m:1m])"), "{job=\"a\"} 1");
}

// Without a stale marker a series is there for five minutes, the far end not included.
TEST_F(FieldCases, AVanishedTargetIsSeenUntilTheLookbackEnds) {
  add("up{job=\"gpu\",instance=\"n1\"}", std::vector<double>(6, 0), 60);
  EXPECT_EQ(at(540, "up == 0"), "up{instance=\"n1\", job=\"gpu\"} 0");
  EXPECT_EQ(at(599.999, "count(up == 0)"), "{} 1");
  EXPECT_EQ(at(600, "up == 0"), "");
}

TEST_F(FieldCases, Absence) {
  add("up{job=\"gpu\",instance=\"n1\"}", {1});
  EXPECT_EQ(at(0, "absent(up{job=\"ipmi\",instance=~\"n.*\"})"), "{job=\"ipmi\"} 1");
  EXPECT_EQ(at(0, "absent(up{job=\"gpu\",instance=~\"n1|n2\"})"), "");
  EXPECT_EQ(at(0, "count(up == 0)"), "");
  EXPECT_EQ(at(0, "count(up == 0) or vector(0)"), "{} 0");
}

TEST_F(FieldCases, ADotMatchesALineBreak) {
  add("note{msg=\"first\\nsecond\"}", {1});
  EXPECT_EQ(at(0, "count(note{msg=~\"first.+second\"})"), "{} 1");
  EXPECT_EQ(at(0, "note{msg!~\"first.+second\"}"), "");
}

}  // namespace
}  // namespace vagt::query
