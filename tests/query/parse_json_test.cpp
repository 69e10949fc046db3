#include "query/parse_json.h"

#include "parse_support.h"

namespace vagt::query {
namespace {

std::string json(std::string_view text) {
  const ExprPtr expr = must_parse(text);
  return expr ? expr_to_json(*expr) : "";
}

TEST(ExprToJson, Selectors) {
  EXPECT_EQ(
      json("foo{a!=\"b\"} @ 1.5 offset 5m"),
      R"({"anchored":false,"matchers":[{"name":"a","type":"!=","value":"b"},)"
      R"({"name":"__name__","type":"=","value":"foo"}],"name":"foo","offset":300000,"smoothed":false,)"
      R"("startOrEnd":null,"timestamp":1500,"type":"vectorSelector"})");
  EXPECT_EQ(
      json("foo[5m] @ end()"),
      R"({"anchored":false,"matchers":[{"name":"__name__","type":"=","value":"foo"}],"name":"foo","offset":0,)"
      R"("range":300000,"smoothed":false,"startOrEnd":"end","timestamp":null,"type":"matrixSelector"})");
}

TEST(ExprToJson, CallsAndLiterals) {
  EXPECT_EQ(
      json("vector(1e3)"),
      R"({"args":[{"type":"numberLiteral","val":"1000"}],"func":{"argTypes":["scalar"],"name":"vector",)"
      R"("returnType":"vector","variadic":0},"type":"call"})");
  EXPECT_EQ(json("(\"a\")"), R"({"expr":{"type":"stringLiteral","val":"a"},"type":"parenExpr"})");
}

TEST(ExprToJson, Aggregations) {
  EXPECT_EQ(
      json("topk without (a) (NaN, vector(0))"),
      R"({"expr":{"args":[{"type":"numberLiteral","val":"0"}],"func":{"argTypes":["scalar"],"name":"vector",)"
      R"("returnType":"vector","variadic":0},"type":"call"},"grouping":["a"],"op":"topk",)"
      R"("param":{"type":"numberLiteral","val":"NaN"},"type":"aggregation","without":true})");
}

TEST(ExprToJson, Operators) {
  const std::string a =
      R"({"anchored":false,"matchers":[{"name":"__name__","type":"=","value":"a"}],"name":"a","offset":0,)"
      R"("smoothed":false,"startOrEnd":null,"timestamp":null,"type":"vectorSelector"})";
  EXPECT_EQ(
      json("a == bool on (x) group_left (y) a"),
      R"({"bool":true,"lhs":)" + a +
          R"(,"matching":{"card":"many-to-one","fillValues":{"lhs":null,"rhs":null},"include":["y"],)" +
          R"("labels":["x"],"on":true},"op":"==","rhs":)" + a + R"(,"type":"binaryExpr"})");
  EXPECT_EQ(json("1 + 2"),
            R"({"bool":false,"lhs":{"type":"numberLiteral","val":"1"},"matching":null,"op":"+",)"
            R"("rhs":{"type":"numberLiteral","val":"2"},"type":"binaryExpr"})");
  EXPECT_EQ(json("-a"), R"({"expr":)" + a + R"(,"op":"-","type":"unaryExpr"})");
}

TEST(ExprToJson, FillValuesThatJsonHasNoNumberFor) {
  const std::string text = json("a + fill_left (NaN) fill_right (-Inf) b");
  EXPECT_NE(text.find(R"("fillValues":{"lhs":"NaN","rhs":"-Inf"})"), std::string::npos) << text;
}

TEST(ExprToJson, Subqueries) {
  EXPECT_EQ(
      json("vector(0)[1h:] offset -1m")
          .substr(json("vector(0)[1h:] offset -1m").find(R"("offset")")),
      R"("offset":-60000,"range":3600000,"startOrEnd":null,"step":0,"timestamp":null,"type":"subquery"})");
}

}  // namespace
}  // namespace vagt::query
