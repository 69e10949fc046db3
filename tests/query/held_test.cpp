// What operators hold while their input passes by.
#include "tests/query/query_fixture.h"

namespace vagt::query {
namespace {

using HeldTest = QueryTest;

// A host whose info series changes its labels every step: each partner counts at its own steps.
TEST_F(HeldTest, AJoinWithPartnersThatChange) {
  constexpr size_t kVersions = 40;
  options_.lookback = std::chrono::seconds(10);
  add("load{host=\"a\"}", std::vector<double>(kVersions, 2));
  for (size_t i = 0; i < kVersions; ++i) {
    std::vector<double> one(kVersions, kGap);
    one[i] = static_cast<double>(i) + 1;
    add("info{host=\"a\",v=\"" + std::to_string(100 + i) + "\"}", one);
  }
  const auto all = ask_range("load * on (host) group_left (v) info", 0, 390, 10);
  ASSERT_THAT(all, test::IsOk());
  const auto& matrix = std::get<Matrix>(all->value);
  ASSERT_EQ(matrix.size(), kVersions);
  for (size_t i = 0; i < kVersions; ++i) {
    ASSERT_EQ(matrix[i].samples.size(), 1u);
    EXPECT_EQ(matrix[i].samples.t[0], seconds(static_cast<double>(i) * 10));
    EXPECT_EQ(matrix[i].samples.v[0], 2 * (static_cast<double>(i) + 1));
  }
  const auto merged = ask_range("load * on (host) group_left () info", 0, 390, 10);
  ASSERT_THAT(merged, test::IsOk());
  ASSERT_EQ(std::get<Matrix>(merged->value).size(), 1u);
  EXPECT_EQ(std::get<Matrix>(merged->value)[0].samples.size(), kVersions);
  EXPECT_EQ(over(0, 390, 390, "load * on (host) group_left () info"), "{host=\"a\"} 2@0 80@390");
}

TEST_F(HeldTest, TopkHoldsOnlyTheBest) {
  for (int i = 0; i < 300; ++i)
    add("x{i=\"" + std::to_string(1000 + i) + "\"}",
        std::vector<double>(50, static_cast<double>(i * 7919 % 300)));
  options_.max_samples = 2'000;
  ASSERT_THAT(ask_range("topk(3, x)", 0, 490, 10), test::IsOk());
  EXPECT_LT(stats_.peak_samples, 1'500u);
  EXPECT_EQ(at(490, "count(topk(3, x) >= 297)"), "{} 3");
  EXPECT_THAT(ask_range("topk(200, x)", 0, 490, 10), test::StatusIs(Code::LimitExceeded));
  EXPECT_THAT(ask_range("limit_ratio(0.01, x)", 0, 490, 10), test::IsOk());
  EXPECT_EQ(at(490, "count(limitk(4, x))"), "{} 4");
}

// A traced run tells what each node read, gave and took.
TEST_F(HeldTest, ATracedRunCountsByNode) {
  for (const char* i : {"1", "2", "3"})
    add("x{i=\"" + std::string(i) + "\"}", std::vector<double>(60, 1));
  options_.trace = true;
  ASSERT_THAT(ask_range("sum(rate(x[1m])) > 5 or x", 0, 590, 10), test::IsOk());
  ASSERT_EQ(stats_.nodes.size(), 7u);
  const NodeCost &root = stats_.nodes[0], &sum = stats_.nodes[2], &rate = stats_.nodes[3],
                 &matrix = stats_.nodes[4], &selector = stats_.nodes.back();
  EXPECT_EQ(root.depth, 0u);
  EXPECT_EQ(root.series, 3u);
  EXPECT_EQ(root.values, 180u);
  EXPECT_EQ(sum.series, 1u);
  EXPECT_EQ(rate.series, 3u);
  EXPECT_EQ(matrix.series_read, 3u);
  EXPECT_EQ(matrix.samples_read, 180u);
  EXPECT_EQ(selector.depth, 1u);
  EXPECT_EQ(selector.values, 180u);
  EXPECT_GE(root.seconds, rate.seconds);
  const std::string text = explain_run(stats_);
  EXPECT_NE(text.find("x[1m]  # matrix, 3 series with 180 samples read"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace vagt::query
