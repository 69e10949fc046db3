#include "tsdb/exemplar_ring.h"

#include <gmock/gmock.h>

namespace vagt::tsdb {
namespace {

using ::testing::SizeIs;

const Labels kA = Labels::of({{"__name__", "a"}}), kB = Labels::of({{"__name__", "b"}});

Exemplar trace(const std::string& id, double value, int64_t ms, bool has_own_time = true) {
  return {Labels::of({{"trace_id", id}}), value, from_millis(ms), has_own_time};
}

std::vector<SeriesExemplars> all(const ExemplarRing& ring, const std::string& name = ".+") {
  const std::vector<Matcher> selectors[] = {
      {Matcher::make(MatchOp::Regex, "__name__", name).value()}};
  return ring.select(selectors, from_millis(0), from_millis(1'000'000));
}

TEST(ExemplarRing, KeepsTheNewestOfAllSeries) {
  ExemplarRing ring(3);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 1000)), Code::Ok);
  EXPECT_EQ(ring.add(kB, trace("2", 2, 1000)), Code::Ok);
  EXPECT_EQ(ring.add(kA, trace("3", 3, 2000)), Code::Ok);
  EXPECT_EQ(ring.add(kA, trace("4", 4, 3000)), Code::Ok);
  const auto rows = all(ring);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].series, kA);
  ASSERT_THAT(rows[0].exemplars, SizeIs(2));
  EXPECT_EQ(rows[0].exemplars[0].labels.get("trace_id"), "3");
  EXPECT_EQ(ring.size(), 3u);
  // The series that loses its last is forgotten.
  EXPECT_EQ(ring.add(kA, trace("5", 5, 4000)), Code::Ok);
  EXPECT_THAT(all(ring, "b"), SizeIs(0));
}

TEST(ExemplarRing, ASingleSlotCanBeReusedByItsOwnSeries) {
  ExemplarRing ring(1);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 1000)), Code::Ok);
  EXPECT_EQ(ring.add(kA, trace("2", 2, 2000)), Code::Ok);
  ASSERT_THAT(all(ring), SizeIs(1));
  EXPECT_EQ(all(ring)[0].exemplars[0].value, 2);
}

TEST(ExemplarRing, RefusesWhatIsOldRepeatedOrTooLong) {
  ExemplarRing ring(10);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 2000)), Code::Ok);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 2000)), Code::Duplicate);
  EXPECT_EQ(ring.add(kA, trace("0", 1, 1000)), Code::OutOfOrder);
  EXPECT_EQ(ring.add(kA, trace(std::string(121, 'x'), 1, 3000)), Code::LimitExceeded);
  // 120 characters, though 240 bytes.
  std::string wide;
  for (int i = 0; i < 120; ++i) wide += "ä";
  EXPECT_EQ(ring.add(kA, trace(wide, 1, 3000)), Code::Ok);
  EXPECT_EQ(ring.size(), 2u);
}

TEST(ExemplarRing, WithoutATimeOfItsOwnItIsNewWhenItSaysSomethingNew) {
  ExemplarRing ring(10);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 1000, false)), Code::Ok);
  EXPECT_EQ(ring.add(kA, trace("1", 1, 2000, false)), Code::Duplicate);
  EXPECT_EQ(ring.add(kA, trace("1", 2, 3000, false)), Code::Ok);
}

TEST(ExemplarRing, SelectsByTimeAndByAnyOfTheSelectors) {
  ExemplarRing ring(10);
  for (int64_t t = 1; t <= 5; ++t) {
    ring.add(kA, trace("a", static_cast<double>(t), t * 1000));
    ring.add(kB, trace("b", static_cast<double>(t), t * 1000));
  }
  const std::vector<Matcher> selectors[] = {{Matcher::equal("__name__", "b")},
                                            {Matcher::equal("__name__", "none")}};
  const auto rows = ring.select(selectors, from_millis(2000), from_millis(4000));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].exemplars, SizeIs(3));
}

TEST(ExemplarRing, ItsSizeMayChange) {
  ExemplarRing ring(10);
  for (int64_t t = 1; t <= 5; ++t) ring.add(kA, trace("a", static_cast<double>(t), t * 1000));
  ring.set_capacity(2);
  EXPECT_EQ(all(ring)[0].exemplars[0].value, 4);
  ring.set_capacity(0);
  EXPECT_EQ(ring.size(), 0u);
  EXPECT_EQ(ring.add(kA, trace("a", 9, 9000)), Code::OutOfBounds);
}

TEST(ExemplarRing, CountsUnderPrometheusNames) {
  base::Registry registry;
  ExemplarRing ring(10);
  ring.count_in(registry);
  ring.add(kA, trace("1", 1, 2000)), ring.add(kA, trace("0", 1, 1000));
  const std::string page = registry.render();
  EXPECT_THAT(page, ::testing::HasSubstr("prometheus_tsdb_exemplar_exemplars_in_storage 1"));
  EXPECT_THAT(page,
              ::testing::HasSubstr("prometheus_tsdb_exemplar_out_of_order_exemplars_total 1"));
}

}  // namespace
}  // namespace vagt::tsdb
