#include "base/json_writer.h"

#include <gtest/gtest.h>

namespace vagt::base {
namespace {

using namespace std::string_view_literals;

TEST(JsonWriter, PlacesCommas) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("a").integer(-1).key("b").begin_array();
  w.string("x").boolean(true).null().begin_object().end_object().begin_array().end_array();
  w.end_array().key("c").raw("[1]").key("d").boolean(false).end_object();
  EXPECT_EQ(out, R"({"a":-1,"b":["x",true,null,{},[]],"c":[1],"d":false})");
}

TEST(JsonWriter, Labels) {
  std::string out;
  JsonWriter w(out);
  w.begin_array().labels(Labels()).labels(Labels::of({{"job", "a\"b"}, {"x", "<&>"}})).end_array();
  EXPECT_EQ(out, R"([{},{"job":"a\"b","x":"<&>"}])");
}

TEST(JsonWriter, NumbersAsGoPrintsThem) {
  const auto text = [](double v) {
    std::string out;
    JsonWriter(out).number(v);
    return out;
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e20), "100000000000000000000");
  EXPECT_EQ(text(1e21), "1e+21");
  EXPECT_EQ(text(-2.5e-7), "-2.5e-07");
}

TEST(JsonString, Escapes) {
  std::string out;
  append_json_string(out, "q\" b\\ n\n r\r t\t z\0 e\x1f <&>/é\xE2\x80\xA8"sv);
  EXPECT_EQ(out, "\"q\\\" b\\\\ n\\n r\\r t\\t z\\u0000 e\\u001f <&>/é\xE2\x80\xA8\"");
}

TEST(JsonString, RepairsBadUtf8ByteByByte) {
  std::string out;
  append_json_string(out, "a\xff\xfe é\xE2\x80");
  EXPECT_EQ(out, "\"a\uFFFD\uFFFD é\uFFFD\uFFFD\"");
}

}  // namespace
}  // namespace vagt::base
