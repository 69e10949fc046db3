#include <gtest/gtest.h>

#include "template/go_time.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

std::string print(std::string_view format, const ValueList& args) {
  return sprintf_go(format, args);
}

TEST(Printf, FormatsAsGo) {
  EXPECT_EQ(print("%d %5d|%-5d|%05d %+d",
                  {int64_t{42}, int64_t{42}, int64_t{42}, int64_t{42}, int64_t{42}}),
            "42    42|42   |00042 +42");
  EXPECT_EQ(print("%.2f %5.1f|%e %g %G", {3.14159, 2.25, 12345.678, 1e21, 1e-7}),
            "3.14   2.2|1.234568e+04 1e+21 1E-07");
  EXPECT_EQ(print("%x %X %o %b %c %U", {int64_t{255}, int64_t{255}, int64_t{8}, int64_t{5},
                                        int64_t{65}, int64_t{0x1f525}}),
            "ff FF 10 101 A U+1F525");
  EXPECT_EQ(print("%08.3f|%+.1f|% d", {3.14159, 2.0, int64_t{7}}), "0003.142|+2.0| 7");
  EXPECT_EQ(print("%10s|%-10s|%.2s", {"abc", "abc", "abcdef"}), "       abc|abc       |ab");
  EXPECT_EQ(print("%q %+q % x", {"a\"b", "\xc3\xa9", "hi"}), "\"a\\\"b\" \"\\u00e9\" 68 69");
  EXPECT_EQ(print("%v %v %v", {TemplateValue(), true, ValueList{"a", "b"}}), "<nil> true [a b]");
  EXPECT_EQ(print("%s %d", {std::chrono::nanoseconds(90'000'000'000), std::chrono::nanoseconds(5)}),
            "1m30s 5");
}

TEST(Printf, ComplainsInsideTheText) {
  EXPECT_EQ(print("%d", {"str"}), "%!d(string=str)");
  EXPECT_EQ(print("%d", {}), "%!d(MISSING)");
  EXPECT_EQ(print("%z", {int64_t{1}}), "%!z(int=1)");
  EXPECT_EQ(print("x", {int64_t{1}}), "x%!(EXTRA int=1)");
  EXPECT_EQ(print("%", {}), "%!(NOVERB)");
  EXPECT_EQ(print("%[2]s %[1]s", {"a", "b"}), "b a");
  EXPECT_EQ(print("%[5]s", {"a"}), "%!s(BADINDEX)");
  EXPECT_EQ(print("%*d", {int64_t{6}, int64_t{42}}), "    42");
  EXPECT_EQ(print("%999999d", {int64_t{1}}), "%!(BADWIDTH)1");
}

TEST(GoTime, PrintsAndParsesByLayout) {
  const GoTime t = *parse_rfc3339_time("2026-11-30T00:30:00.123456+02:00");
  EXPECT_EQ(t.to_string(), "2026-11-30 00:30:00.123456 +0200 +0200");
  EXPECT_EQ(t.utc().format("Mon, 02 Jan 2006 15:04:05 -0700"), "Sun, 29 Nov 2026 22:30:00 +0000");
  EXPECT_EQ(t.format("Jan _2 3:04PM .999999 Z07:00"), "Nov 30 12:30AM .123456 +02:00");
  EXPECT_EQ(in_zone(t.utc(), "Asia/Kolkata")->format("15:04 -0700"), "04:00 +0530");
  EXPECT_FALSE(in_zone(t, "No/Where").ok());
  EXPECT_EQ(parse_go_time("02 Jan 2006", "15 Mar 2024")->to_rfc3339(), "2024-03-15T00:00:00Z");
  EXPECT_FALSE(parse_go_time("2006-01-02", "2024-02-30").ok());
  EXPECT_TRUE(GoTime::zero().is_zero());
  EXPECT_EQ(GoTime::zero().to_string(), "0001-01-01 00:00:00 +0000 UTC");
}

}  // namespace
}  // namespace vagt::tmpl
