#include "exposition/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace vagt::exposition {
namespace {

double simple(const std::string& text, bool& taken) {
  double value = 0;
  const char* end = text.data() + text.size();
  taken = read_simple_number(text.data(), end, value) == end;
  return value;
}

TEST(SimpleNumber, AgreesWithStrtod) {
  size_t taken_count = 0;
  for (const char* text :
       {"0", "-0", "1", "42", "9007199254740992", "0.1", "1.5", "-273.15", "4.9351e-05", "1e5",
        "1.7e+09", "123456789.25", ".5", "5.", "8.3835e-05", "1.520879607e+09", "00012"}) {
    bool taken = false;
    const double value = simple(text, taken);
    if (!taken) continue;
    ++taken_count;
    EXPECT_EQ(value, std::strtod(text, nullptr)) << text;
    EXPECT_EQ(std::signbit(value), std::signbit(std::strtod(text, nullptr))) << text;
  }
  EXPECT_GE(taken_count, 15u);
}

TEST(SimpleNumber, LeavesTheRestToOthers) {
  for (const char* text : {"", "-", ".", "NaN", "+1", "+Inf", "1e", "1e400", "9223372036854775807",
                           "0x10", "1e-30", "0.12345678901234567890123"}) {
    bool taken = true;
    simple(text, taken);
    EXPECT_FALSE(taken) << text;
  }
}

TEST(ReadFloat, IsPrometheuss) {
  EXPECT_EQ(read_float("4.9e-324").value, 4.9e-324);
  EXPECT_EQ(read_float("9223372036854775807").value, 9223372036854775807.0);
  EXPECT_TRUE(std::isinf(read_float("+Inf").value));
  EXPECT_TRUE(std::isnan(read_float("nan").value));
  EXPECT_EQ(read_float("1e400").fault, FloatFault::Range);
  EXPECT_EQ(read_float("1_000").fault, FloatFault::Character);
  EXPECT_EQ(read_float("0x1p-3").fault, FloatFault::Character);
  EXPECT_EQ(read_float("0x10").fault, FloatFault::Syntax);
  EXPECT_EQ(read_float("one").fault, FloatFault::Syntax);
  EXPECT_EQ(read_float("").fault, FloatFault::Syntax);
}

}  // namespace
}  // namespace vagt::exposition
