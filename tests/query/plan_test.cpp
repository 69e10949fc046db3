#include "query/plan.h"

#include <gtest/gtest.h>

#include "query/parse.h"

namespace vagt::query {
namespace {

PlanPtr plan_of(const std::string& text) {
  return make_plan(parse_expr(text, ParseOptions{}).value(), text);
}

TEST(PlanTest, FoldsScalars) {
  EXPECT_EQ(plan_of("-(1 + 2) * 3")->root().constant, -9);
  EXPECT_EQ(plan_of("2 ^ 3 ^ 2")->root().constant, 512);
  EXPECT_FALSE(plan_of("time() + 1")->root().constant.has_value());
}

TEST(PlanTest, KnowsWhatStaysTheSame) {
  EXPECT_TRUE(plan_of("sum(rate(x[5m] @ 10))")->root().invariant);
  EXPECT_TRUE(plan_of("sum_over_time(x[5m:1m] @ end())")->root().invariant);
  EXPECT_FALSE(plan_of("x @ 10 + x")->root().invariant);
  EXPECT_TRUE(plan_of("x @ 10 + x")->root().children[0].invariant);
  EXPECT_FALSE(plan_of("timestamp(x @ 10)")->root().invariant);
  EXPECT_FALSE(plan_of("predict_linear(x[5m] @ 10, 60)")->root().invariant);
}

TEST(PlanTest, KnowsWhoseNamesMayCollide) {
  EXPECT_TRUE(plan_of("x{a=~\".*\"}")->root().one_name);
  EXPECT_FALSE(plan_of("{__name__=~\"x|y\"}")->root().one_name);
  EXPECT_TRUE(plan_of("sum by (a) ({__name__=~\"x|y\"})")->root().one_name);
  EXPECT_FALSE(plan_of("x or y")->root().one_name);
}

TEST(PlanTest, NamesPlacesByLineAndColumn) {
  const PlanPtr plan = plan_of("1 +\n  x");
  EXPECT_EQ(plan->position(0), "1:1");
  EXPECT_EQ(plan->position(6), "2:3");
}

TEST(PlanTest, ExplainsItself) {
  EXPECT_EQ(explain_plan(*plan_of("sum(x) + (1 + 1)")),
            "sum(x) + (1 + 1)  # vector\n"
            "  sum(x)  # vector\n"
            "    x  # vector\n"
            "  1 + 1  # scalar, constant\n"
            "    1  # scalar, constant\n"
            "    1  # scalar, constant\n");
}

}  // namespace
}  // namespace vagt::query
