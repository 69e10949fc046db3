#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vagt {
namespace {

TEST(FormatFloat, IsShortestWithoutExponent) {
  EXPECT_EQ(format_float(1), "1");
  EXPECT_EQ(format_float(0.1), "0.1");
  EXPECT_EQ(format_float(1e6), "1000000");
  EXPECT_EQ(format_float(1e-7), "0.0000001");
  EXPECT_EQ(format_float(72057594037927936.0), "72057594037927940");
  EXPECT_EQ(format_float(1.7e30), "1700000000000000000000000000000");
  EXPECT_EQ(format_float(-1e23), "-100000000000000000000000");
  EXPECT_EQ(format_float(18446744073709551616.0), "18446744073709552000");
  EXPECT_EQ(format_float(-0.0), "-0");
  EXPECT_EQ(format_float(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(format_float(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(format_float(std::nan("")), "NaN");
  EXPECT_EQ(parse_float(format_float(std::numeric_limits<double>::denorm_min())),
            std::numeric_limits<double>::denorm_min());
}

TEST(FormatFloatG, SwitchesToExponent) {
  EXPECT_EQ(format_float_g(1e20), "100000000000000000000");
  EXPECT_EQ(format_float_g(1e21), "1e+21");
  EXPECT_EQ(format_float_g(0.0001), "0.0001");
  EXPECT_EQ(format_float_g(0.00001), "1e-05");
  EXPECT_EQ(format_float_g(91.5), "91.5");
}

TEST(ParseFloat, AcceptsWhatGoAccepts) {
  EXPECT_EQ(parse_float("1e3"), 1000);
  EXPECT_EQ(parse_float("+.5"), 0.5);
  EXPECT_EQ(parse_float("0x1p-2"), 0.25);
  EXPECT_EQ(parse_float("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_float("1e-999"), 0.0);
  EXPECT_EQ(parse_float("-inFINity"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_float("-nan").value_or(0)));
}

TEST(ParseFloat, RefusesTheRest) {
  for (const char* text :
       {"", "+", "1x", "0x1", "1_000", "--1", "+-1", "infi", "nanx", " 1", "1 ", "e5", "."})
    EXPECT_FALSE(parse_float(text).has_value()) << text;
}

TEST(ParseInt, WholeTextOnly) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("+12"), 12);
  EXPECT_FALSE(parse_int("12a").has_value());
  EXPECT_FALSE(parse_int("+-1").has_value());
  EXPECT_FALSE(parse_int("9223372036854775808").has_value());
}

}  // namespace
}  // namespace vagt
