// What every Store does, whatever is inside: one suite, run against each implementation.
#include <gtest/gtest.h>

#include "tests/tsdb/store_fixture.h"

namespace vagt::tsdb {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(All, StoreTest, ::testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param; });

const Labels kUp = Labels::of({{"__name__", "up"}, {"instance", "a:1"}, {"job", "gpu"}});
const Labels kUpB = Labels::of({{"__name__", "up"}, {"instance", "b:1"}, {"job", "gpu"}});
const Labels kTemp = Labels::of({{"__name__", "temp"}, {"gpu", "0"}, {"instance", "a:1"}});

TEST_P(StoreTest, ReadsBackWhatWasCommitted) {
  put(kUp, {{1000, 1}, {2000, 0}, {3000, 2.5}});
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1000, 1}, {2000, 0}, {3000, 2.5}}}}));
}

TEST_P(StoreTest, NothingIsVisibleBeforeCommitOrAfterRollback) {
  {
    auto appender = store().appender();
    const auto ref = appender->series(kUp);
    ASSERT_THAT(ref, IsOk());
    EXPECT_EQ(appender->append(*ref, {from_millis(1), 1}), Code::Ok);
    EXPECT_THAT(read_all(), IsEmpty());
  }
  EXPECT_THAT(read_all(), IsEmpty());
  EXPECT_EQ(store().stats().head_series, 0u);
}

TEST_P(StoreTest, ARefOfARolledBackSeriesIsRetired) {
  SeriesRef ref{};
  {
    auto appender = store().appender();
    ref = *appender->series(kUp);
  }
  EXPECT_EQ(store().appender()->append(ref, {from_millis(1), 1}), Code::NotFound);
  EXPECT_EQ(store().appender()->append(SeriesRef::None, {from_millis(1), 1}), Code::NotFound);
}

TEST_P(StoreTest, RefsStayGoodOverCommits) {
  auto first = store().appender();
  const SeriesRef ref = *first->series(kUp);
  ASSERT_EQ(first->append(ref, {from_millis(1), 1}), Code::Ok);
  ASSERT_THAT(first->commit(), IsOk());
  auto second = store().appender();
  ASSERT_EQ(second->append(ref, {from_millis(2), 2}), Code::Ok);
  EXPECT_EQ(*second->series(kUp), ref);
  ASSERT_THAT(second->commit(), IsOk());
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1, 1}, {2, 2}}}}));
}

TEST_P(StoreTest, AnAppenderCanBeUsedAgainAfterCommit) {
  auto appender = store().appender();
  const SeriesRef ref = *appender->series(kUp);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(appender->append(ref, {from_millis(i), double(i)}), Code::Ok);
    ASSERT_THAT(appender->commit(), IsOk());
  }
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1, 1}, {2, 2}, {3, 3}}}}));
}

TEST_P(StoreTest, ASeriesWithoutLabelsIsRefused) {
  EXPECT_THAT(store().appender()->series(Labels()), StatusIs(Code::InvalidArgument));
}

TEST_P(StoreTest, SameTimeSameBitsIsStoredOnceAnotherValueIsADuplicate) {
  put(kUp, {{1000, 1}});
  EXPECT_EQ(try_append(kUp, 1000, 1), Code::Ok);
  EXPECT_EQ(try_append(kUp, 1000, 2), Code::Duplicate);
  auto appender = store().appender();  // within one batch too
  const SeriesRef ref = *appender->series(kUp);
  EXPECT_EQ(appender->append(ref, {from_millis(2000), 5}), Code::Ok);
  EXPECT_EQ(appender->append(ref, {from_millis(2000), 5}), Code::Ok);
  EXPECT_EQ(appender->append(ref, {from_millis(2000), 6}), Code::Duplicate);
  ASSERT_THAT(appender->commit(), IsOk());
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1000, 1}, {2000, 5}}}}));
}

TEST_P(StoreTest, OldSamplesAreRefusedWithoutAWindow) {
  put(kUp, {{1000, 1}});
  EXPECT_EQ(try_append(kUp, 999, 1), Code::OutOfOrder);
  put(kUpB, {{5, 1}});  // another series may be as old as it likes
  EXPECT_EQ(read_all().at(kUpB), (Points{{5, 1}}));
}

TEST_P(StoreTest, ABadSampleFailsAlone) {
  put(kUp, {{1000, 1}});
  auto appender = store().appender();
  const SeriesRef ref = *appender->series(kUp);
  EXPECT_EQ(appender->append(ref, {from_millis(500), 9}), Code::OutOfOrder);
  EXPECT_EQ(appender->append(ref, {from_millis(1500), 9}), Code::Ok);
  ASSERT_THAT(appender->commit(), IsOk());
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1000, 1}, {1500, 9}}}}));
}

TEST_P(StoreTest, TheWindowCountsFromTheNewestStoredSample) {
  reopen_with({.out_of_order_window = Duration(1000)});
  put(kUp, {{5000, 1}});
  EXPECT_EQ(try_append(kUp, 4500, 2), Code::Ok);
  EXPECT_EQ(try_append(kUp, 4500, 2), Code::Ok);
  EXPECT_EQ(try_append(kUp, 4500, 3), Code::Duplicate);
  EXPECT_EQ(try_append(kUp, 4000, 4), Code::Ok);
  EXPECT_EQ(try_append(kUp, 3999, 5), Code::OutOfOrder);
  put(kUpB, {{9000, 1}});  // moves the window of every series
  EXPECT_EQ(try_append(kUp, 4600, 5), Code::OutOfOrder);
  EXPECT_EQ(read_all().at(kUp), (Points{{4000, 4}, {4500, 2}, {5000, 1}}));
}

TEST_P(StoreTest, AnEmptyStoreTakesSamplesOf1970AndBefore) {
  put(kUp, {{-5000, 1}, {0, 2}, {5000, 3}});
  EXPECT_EQ(read_all(), (Contents{{kUp, {{-5000, 1}, {0, 2}, {5000, 3}}}}));
  EXPECT_EQ(read(-5000, -1), (Contents{{kUp, {{-5000, 1}}}}));
}

TEST_P(StoreTest, BeyondRetentionIsOutOfBounds) {
  reopen_with({.retention = Duration(10'000)});
  put(kUp, {{100'000, 1}});
  EXPECT_EQ(try_append(kUpB, 89'999, 1), Code::OutOfBounds);
  EXPECT_EQ(try_append(kUpB, 90'000, 1), Code::Ok);
}

TEST_P(StoreTest, BackFillTakesAnyAge) {
  put(kUp, {{100'000, 1}});
  auto appender = store().import_appender();
  const SeriesRef ref = *appender->series(kUp);
  for (int64_t t : {10, 5, 20}) EXPECT_EQ(appender->append(ref, {from_millis(t), 7}), Code::Ok);
  ASSERT_THAT(appender->commit(), IsOk());
  EXPECT_EQ(read_all().at(kUp), (Points{{5, 7}, {10, 7}, {20, 7}, {100'000, 1}}));
}

TEST_P(StoreTest, SpecialValuesKeepTheirBits) {
  const double values[] = {stale_marker(),
                           normal_nan(),
                           -0.0,
                           0.0,
                           HUGE_VAL,
                           -HUGE_VAL,
                           std::numeric_limits<double>::denorm_min(),
                           1e308,
                           0.1};
  Points points;
  for (const double v : values) points.push_back({static_cast<int64_t>(points.size()), v});
  put(kUp, points);
  EXPECT_EQ(read_all().at(kUp), points);
}

TEST_P(StoreTest, AQuerierKeepsItsSnapshot) {
  put(kUp, {{1, 1}});
  auto querier = store().querier(from_millis(0), from_millis(100));
  put(kUp, {{2, 2}});
  put(kUpB, {{2, 2}});
  maintain();
  EXPECT_EQ(read(*querier), (Contents{{kUp, {{1, 1}}}}));
  EXPECT_EQ(read_all().size(), 2u);
}

TEST_P(StoreTest, BothEndsOfTheRangeAreInclusive) {
  put(kUp, {{1, 1}, {2, 2}, {3, 3}, {4, 4}});
  EXPECT_EQ(read(2, 3), (Contents{{kUp, {{2, 2}, {3, 3}}}}));
  auto querier = store().querier(from_millis(2), from_millis(9));  // hints narrow it further
  EXPECT_EQ(read(*querier, {}, {.start = from_millis(0), .end = from_millis(3), .function = ""}),
            (Contents{{kUp, {{2, 2}, {3, 3}}}}));
}

TEST_P(StoreTest, ReadHandsOutAtMostWhatIsAskedForAndDoesNotClear) {
  put(kUp, {{1, 1}, {2, 2}, {3, 3}});
  auto querier = store().querier(from_millis(0), from_millis(9));
  auto cursor = querier->select({}, {from_millis(0), from_millis(9), ""});
  ASSERT_TRUE(cursor->next());
  SampleColumns out;
  EXPECT_TRUE(cursor->read(out, 2));
  EXPECT_EQ(out.size(), 2u);
  EXPECT_TRUE(cursor->read(out, 2));
  EXPECT_EQ(out.size(), 3u);
  EXPECT_FALSE(cursor->read(out, 2));
  EXPECT_EQ(out.size(), 3u);
  EXPECT_FALSE(cursor->next());
  EXPECT_THAT(cursor->status(), IsOk());
}

TEST_P(StoreTest, SeriesComeInLabelsOrder) {
  for (const char* name : {"b", "a", "c"})
    for (const char* gpu : {"1", "0", "10"})
      put(Labels::of({{"__name__", name}, {"gpu", gpu}}), {{1, 1}});
  std::vector<std::string> seen;
  auto querier = store().querier(from_millis(0), from_millis(9));
  auto cursor = querier->select({}, {from_millis(0), from_millis(9), ""});
  while (cursor->next()) seen.push_back(cursor->labels().to_string());
  EXPECT_THAT(seen, ElementsAre("a{gpu=\"0\"}", "a{gpu=\"1\"}", "a{gpu=\"10\"}", "b{gpu=\"0\"}",
                                "b{gpu=\"1\"}", "b{gpu=\"10\"}", "c{gpu=\"0\"}", "c{gpu=\"1\"}",
                                "c{gpu=\"10\"}"));
}

TEST_P(StoreTest, MatchersOfEveryKind) {
  put(kUp, {{1, 1}});
  put(kUpB, {{1, 1}});
  put(kTemp, {{1, 1}});
  const auto names = [&](std::vector<Matcher> matchers) {
    std::vector<std::string> all;
    auto querier = store().querier(from_millis(0), from_millis(9));
    for (const auto& [labels, points] : read(*querier, matchers)) all.push_back(labels.to_string());
    return all;
  };
  const std::string up_a = kUp.to_string(), up_b = kUpB.to_string(), temp = kTemp.to_string();
  const auto m = [](MatchOp op, std::string name, std::string value) {
    return *Matcher::make(op, std::move(name), std::move(value));
  };
  EXPECT_THAT(names({m(MatchOp::Equal, "__name__", "up")}), ElementsAre(up_a, up_b));
  EXPECT_THAT(names({m(MatchOp::Equal, "__name__", "nope")}), IsEmpty());
  EXPECT_THAT(names({m(MatchOp::Equal, "job", "")}), ElementsAre(temp));
  EXPECT_THAT(names({m(MatchOp::NotEqual, "job", "")}), ElementsAre(up_a, up_b));
  EXPECT_THAT(names({m(MatchOp::NotEqual, "job", "gpu")}), ElementsAre(temp));
  EXPECT_THAT(names({m(MatchOp::Regex, "instance", "a:1|b:1")}), ElementsAre(temp, up_a, up_b));
  EXPECT_THAT(names({m(MatchOp::Regex, "instance", "b:.*")}), ElementsAre(up_b));
  EXPECT_THAT(names({m(MatchOp::Regex, "gpu", "0?")}), ElementsAre(temp, up_a, up_b));
  EXPECT_THAT(names({m(MatchOp::NotRegex, "instance", "a.*")}), ElementsAre(up_b));
  EXPECT_THAT(names({m(MatchOp::NotRegex, "gpu", ".+")}), ElementsAre(up_a, up_b));
  EXPECT_THAT(names({m(MatchOp::Regex, "__name__", ".+"), m(MatchOp::Equal, "gpu", "0")}),
              ElementsAre(temp));
  EXPECT_THAT(names({m(MatchOp::Equal, "missing", "x")}), IsEmpty());
  EXPECT_THAT(names({m(MatchOp::Equal, "missing", "")}), ElementsAre(temp, up_a, up_b));
}

TEST_P(StoreTest, LabelNamesAndValues) {
  put(kUp, {{1, 1}});
  put(kUpB, {{1, 1}});
  put(kTemp, {{1, 1}});
  auto querier = store().querier(from_millis(0), from_millis(9));
  EXPECT_THAT(*querier->label_values("instance", {}), ElementsAre("a:1", "b:1"));
  EXPECT_THAT(*querier->label_values("nope", {}), IsEmpty());
  const std::vector<Matcher> up = {Matcher::equal("__name__", "up")};
  EXPECT_THAT(*querier->label_values("gpu", up), IsEmpty());
  EXPECT_THAT(*querier->label_names({}), ElementsAre("__name__", "gpu", "instance", "job"));
  EXPECT_THAT(*querier->label_names(up), ElementsAre("__name__", "instance", "job"));
}

TEST_P(StoreTest, TheSeriesLimitRefusesOnlyNewSeries) {
  reopen_with({.max_series = 2});
  put(kUp, {{1, 1}});
  put(kUpB, {{1, 1}});
  EXPECT_THAT(store().appender()->series(kTemp), StatusIs(Code::LimitExceeded, "2"));
  put(kUp, {{2, 1}});
}

TEST_P(StoreTest, MetadataIsLastWriteWinsPerMetric) {
  auto appender = store().appender();
  appender->metadata("up", {"gauge", "old", ""});
  appender->metadata("temp", {"gauge", "heat", "celsius"});
  ASSERT_THAT(appender->commit(), IsOk());
  appender->metadata("up", {"gauge", "new", ""});
  EXPECT_EQ(store().metadata("up").at(0).second.help, "old");
  ASSERT_THAT(appender->commit(), IsOk());
  EXPECT_EQ(store().metadata("up").at(0).second, (Metadata{"gauge", "new", ""}));
  EXPECT_EQ(store().metadata("").size(), 2u);
  EXPECT_THAT(store().metadata("nope"), IsEmpty());
}

TEST_P(StoreTest, StatsAndCardinality) {
  put(kUp, {{1000, 1}});
  put(kUpB, {{9000, 1}});
  put(kTemp, {{5000, 1}});
  const StoreStats stats = store().stats();
  EXPECT_EQ(stats.head_series, 3u);
  EXPECT_EQ(stats.min_time, from_millis(1000));
  EXPECT_EQ(stats.max_time, from_millis(9000));
  EXPECT_EQ(stats.degraded, "");
  const CardinalityStats top = store().cardinality(2);
  EXPECT_EQ(top.label_pairs, 6u);  // up, temp, a:1, b:1, job=gpu, gpu=0
  ASSERT_EQ(top.series_by_metric.size(), 2u);
  EXPECT_EQ(top.series_by_metric[0].name, "up");
  EXPECT_EQ(top.series_by_metric[0].value, 2u);
  EXPECT_EQ(top.values_by_label[0].value, 2u);
}

TEST_P(StoreTest, DeletingLeavesTheRest) {
  put(kUp, {{1, 1}, {2, 2}, {3, 3}});
  put(kUpB, {{1, 1}, {2, 2}, {3, 3}});
  delete_series({Matcher::equal("instance", "a:1")}, 2, 2);
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1, 1}, {3, 3}}}, {kUpB, {{1, 1}, {2, 2}, {3, 3}}}}));
  delete_series({Matcher::equal("instance", "b:1")}, 0, 100);
  EXPECT_EQ(read_all(), (Contents{{kUp, {{1, 1}, {3, 3}}}}));
  put(kUpB, {{50, 1}});  // it may come back
  EXPECT_EQ(read_all().at(kUpB), (Points{{50, 1}}));
}

TEST_P(StoreTest, ThousandsOfSamplesOverManyChunks) {
  Points points;
  for (int i = 0; i < 5000; ++i)
    points.push_back({int64_t{i} * 15'000 + (i % 7 == 0 ? 3 : 0), i % 100 < 50 ? i * 0.25 : 7.0});
  for (size_t i = 0; i < points.size(); i += 100) {
    put(kUp, Points(points.begin() + long(i), points.begin() + long(i) + 100));
    if (i % 700 == 0) maintain();
  }
  EXPECT_EQ(read_all().at(kUp), points);
  EXPECT_EQ(read(1'500'000, 3'000'100).at(kUp).size(), 101u);
}

}  // namespace
}  // namespace vagt::tsdb
