#include <gmock/gmock.h>

#include <cmath>

#include "node-agent/collector.h"
#include "node-agent/page.h"

namespace vagt::agent {
namespace {

using ::testing::HasSubstr;

TEST(MetricSink, WritesLabelsAndValues) {
  MetricSink sink;
  Family& family = sink.gauge("a", "Help \\ with\nbreak.");
  family.add(1.5);
  family.add({{"x", "q\"\\\n"}, {"y", ""}}, -3);
  family.add_exact({{"z", "1"}}, 18446744073709551615ULL);
  family.add(std::nan(""));
  family.add(1e300);
  family.add(-0.0);
  EXPECT_EQ(family.head(), "# HELP a Help \\\\ with\\nbreak.\n# TYPE a gauge\n");
  EXPECT_EQ(family.lines(),
            "a 1.5\na{x=\"q\\\"\\\\\\n\",y=\"\"} -3\na{z=\"1\"} 18446744073709551615\n"
            "a NaN\na 1e+300\na -0\n");
  EXPECT_EQ(family.samples(), 6u);
}

TEST(MetricSink, ARunOfBadBytesIsOneReplacement) {
  MetricSink sink;
  Family& family = sink.gauge("a", "A.");
  family.add({{"x", "\xff\xfe[\xc3\xa9\xff"}}, 1);
  EXPECT_EQ(family.lines(), "a{x=\"\xEF\xBF\xBD[\xc3\xa9\xEF\xBF\xBD\"} 1\n");
}

TEST(MetricSink, DropsTheLargestFamiliesFirst) {
  MetricSink sink;
  for (int i = 0; i < 5; ++i) sink.gauge("large", "L.").add({{"i", std::to_string(i)}}, i);
  sink.gauge("small", "S.").add(1);
  EXPECT_EQ(sink.drop_down_to(3), 5u);
  EXPECT_EQ(sink.samples(), 1u);
  EXPECT_EQ(sink.drop_down_to(3), 0u);
}

TEST(Page, OneHeadPerFamilyInNameOrder) {
  auto first = std::make_shared<MetricSink>(), second = std::make_shared<MetricSink>();
  first->gauge("b", "B.").add({{"x", "1"}}, 1);
  first->gauge("empty", "E.");
  second->counter("a_total", "A.").add(2);
  second->gauge("b", "Other.").add({{"x", "2"}}, 2);
  EXPECT_EQ(render_page({first, nullptr, second}, false, 0),
            "# HELP a_total A.\n# TYPE a_total counter\na_total 2\n"
            "# HELP b B.\n# TYPE b gauge\nb{x=\"1\"} 1\nb{x=\"2\"} 2\n");
}

TEST(Page, OpenMetricsNamesCountersWithoutTotal) {
  auto sink = std::make_shared<MetricSink>();
  sink->counter("a_total", "A.").add(1);
  sink->counter("DCGM_COUNT", "No suffix.").add(1);
  sink->untyped("u", "U.").add(1);
  sink->counter("hung_total", "Taken below.").add(1);
  sink->gauge("hung", "Alias.").add(1);
  const std::string page = render_page({sink}, true, 0);
  EXPECT_THAT(page, HasSubstr("# TYPE a counter\n# HELP a A.\na_total 1\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE DCGM_COUNT unknown\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE u unknown\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE hung_total unknown\n"));
  EXPECT_THAT(page, ::testing::EndsWith("# EOF\n"));
}

}  // namespace
}  // namespace vagt::agent
