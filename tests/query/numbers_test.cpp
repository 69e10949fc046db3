// Numbers to the last bit, as Go has them.
#include "query/operators/numbers.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

namespace vagt::query {
namespace {

// What the real Prometheus answers; the standard library's pow and log10 end in another digit.
TEST(Numbers, PowersAsGoComputesThem) {
  EXPECT_EQ(go_pow(2, 10), 1024);
  EXPECT_EQ(go_pow(-2, 3), -8);
  EXPECT_EQ(go_pow(2, -1074), 0x1p-1074);
  EXPECT_EQ(go_pow(10, 308), 1.0000000000000006e+308);
  EXPECT_EQ(go_pow(10, 400), HUGE_VAL);
  EXPECT_EQ(go_pow(1e-5, 80), 0);
  EXPECT_EQ(go_pow(0.25, 0.5), 0.5);
  EXPECT_EQ(go_pow(4, -0.5), 0.5);
  EXPECT_TRUE(std::isnan(go_pow(-2, 0.3)));
  EXPECT_EQ(go_log10(1000), 3);
  EXPECT_EQ(go_pow(0.5, 0.3), 0.8122523963562355);
  EXPECT_EQ(go_pow(0.5, -2.7), 6.498019170849886);
  EXPECT_EQ(go_pow(3.7, 13), 24356922.42160814);
  EXPECT_EQ(go_pow(7, 5.3), 30131.42090009039);
  EXPECT_EQ(go_log10(100), 2);
  EXPECT_EQ(go_log2(8), 3);
  EXPECT_EQ(go_log2(0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(go_log2(-1)));
}

TEST(Numbers, SpecialPowersAreTheStandardOnes) {
  const double odd[] = {0.0, -0.0, 1,     -1,       0.5,       -2.5,
                        3,   -3,   1e300, HUGE_VAL, -HUGE_VAL, std::nan("")};
  for (const double x : odd) {
    for (const double y : {0.0, 1.0, 2.0, 3.0, -3.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      const double got = go_pow(x, y), wanted = std::pow(x, y);
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(got)) << x << " ^ " << y;
      } else {
        EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(wanted)) << x << " ^ " << y;
      }
    }
  }
}

}  // namespace
}  // namespace vagt::query
