#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_api.h"

namespace vagt {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using test::FakeApi;
using test::run_tool;
using ::testing::HasSubstr;

FakeApi answering(const std::string& data) {
  return FakeApi([data](const ServerRequest&) {
    return ServerResponse::json(200, R"({"status":"success","data":)" + data + "}");
  });
}

TEST(QueryInstant, VectorAsPromtoolPrintsIt) {
  const FakeApi api = answering(
      R"({"resultType":"vector","result":[{"metric":{"job":"a","__name__":"up","instance":"x:1"},"value":[1700000000.5,"1"]},{"metric":{},"value":[1700000000,"NaN"]},{"metric":{"__name__":"bare"},"value":[1700000000,"+Inf"]}]})");
  const auto ran = run_tool({"query", "instant", api.url(), "up", "--time=1700000000"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "up{instance=\"x:1\", job=\"a\"} => 1 @[1700000000.5]\n"
            "{} => NaN @[1700000000]\n"
            "bare => +Inf @[1700000000]\n");
  const ServerRequest request = api.requests().at(0);
  EXPECT_EQ(request.path, "/api/v1/query");
  EXPECT_EQ(request.param("query"), "up");
  EXPECT_EQ(request.param("time"), "1700000000");
}

TEST(QueryInstant, ScalarStringAndJson) {
  const FakeApi scalar = answering(R"({"resultType":"scalar","result":[1.5,"2"]})");
  EXPECT_EQ(run_tool({"query", "instant", scalar.url(), "2"}).out, "scalar: 2 @[1.5]\n");
  const FakeApi text = answering(R"({"resultType":"string","result":[1.5,"hello"]})");
  EXPECT_EQ(run_tool({"query", "instant", text.url(), "\"hello\""}).out, "hello\n");
  EXPECT_EQ(run_tool({"query", "instant", "-o", "json", scalar.url(), "2"}).out, "[1.5,\"2\"]\n");
  EXPECT_EQ(run_tool({"-o", "json", "query", "instant", scalar.url(), "2"}).out, "[1.5,\"2\"]\n");
}

TEST(QueryInstant, AnAnswerOfAnotherShapeIsNoValue) {
  for (const char* data :
       {R"([])", R"({})", R"({"resultType":"vector"})", R"({"resultType":"vector","result":{}})",
        R"({"resultType":"vector","result":[{}]})", R"({"resultType":"vector","result":[7]})",
        R"({"resultType":"vector","result":[{"metric":{}}]})",
        R"({"resultType":"vector","result":[{"metric":{"a":1},"value":[1,"1"]}]})",
        R"({"resultType":"vector","result":[{"metric":{},"value":[1]}]})",
        R"({"resultType":"vector","result":[{"metric":{},"value":["1","1"]}]})",
        R"({"resultType":"vector","result":[{"metric":{},"value":[1,"one"]}]})",
        R"({"resultType":"vector","result":[{"metric":{},"value":[1,null]}]})",
        R"({"resultType":"matrix","result":[{"metric":{}}]})",
        R"({"resultType":"matrix","result":[{"metric":{},"values":7}]})",
        R"({"resultType":"scalar","result":[]})", R"({"resultType":"other","result":[]})"}) {
    const FakeApi api = answering(data);
    for (const char* format : {"promql", "json"}) {
      const auto ran = run_tool({"query", "instant", "-o", format, api.url(), "up"});
      EXPECT_EQ(ran.code, 1) << data;
      EXPECT_EQ(ran.out, "") << data;
      EXPECT_THAT(ran.err, HasSubstr("the answer is not that of a query API: ")) << data;
    }
  }
}

TEST(QuerySeries, AnAnswerOfAnotherShapeIsNoSeries) {
  for (const char* data : {R"({})", R"([7])", R"([{"a":1}])"}) {
    const FakeApi api = answering(data);
    EXPECT_EQ(run_tool({"query", "series", "--match=up", api.url()}).code, 1) << data;
    EXPECT_EQ(run_tool({"query", "labels", api.url(), "a"}).code, 1) << data;
  }
}

TEST(QueryExplain, ThePlanAloneAndWithItsCosts) {
  EXPECT_EQ(run_tool({"explain", "sum(x) + 1"}).out,
            "sum(x) + 1  # vector\n  sum(x)  # vector\n    x  # vector\n  1  # scalar, constant\n");
  EXPECT_EQ(run_tool({"explain", "sum("}).code, 1);
  const FakeApi api = answering(R"({"text":"x  # vector, 1.000 ms\n","nodes":[]})");
  const auto ran = run_tool({"explain", "x", "--server", api.url(), "--time=1700000000"});
  EXPECT_EQ(ran.out, "x  # vector, 1.000 ms\n") << ran.err;
  EXPECT_EQ(api.requests().at(0).path, "/api/v1/explain");
  EXPECT_EQ(api.requests().at(0).param("time"), "1700000000");
  run_tool({"explain", "x", "--server", api.url(), "--start=1700000000", "--end=1700000600",
            "--step=1m"});
  EXPECT_EQ(api.requests().at(1).param("step"), "60");
}

TEST(QueryInstant, Errors) {
  const FakeApi api([](const ServerRequest&) {
    return ServerResponse::json(
        400, R"({"status":"error","errorType":"bad_data","error":"parse error"})");
  });
  const auto ran = run_tool({"query", "instant", api.url(), "up("});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "query error: bad_data: parse error\n");
  EXPECT_THAT(run_tool({"query", "instant", "127.0.0.1:1", "up"}).err,
              HasSubstr("connection refused"));
  EXPECT_EQ(run_tool({"query", "instant", api.url(), "up", "--time=yesterday"}).code, 1);
  EXPECT_EQ(run_tool({"query", "instant", api.url()}).code, 1);
}

TEST(QueryRange, MatrixAndParameters) {
  const FakeApi api = answering(
      R"({"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1,"1"],[16,"0"]]}]})");
  const auto ran =
      run_tool({"query", "range", api.url(), "up", "--start=1000", "--end=4600", "--header=X-A=b"});
  EXPECT_EQ(ran.out, "up =>\n1 @[1]\n0 @[16]\n");
  const ServerRequest request = api.requests().at(0);
  EXPECT_EQ(request.path, "/api/v1/query_range");
  EXPECT_EQ(request.param("step"), "14");
  EXPECT_EQ(request.header("X-A"), "b");
  EXPECT_EQ(run_tool({"query", "range", api.url(), "up", "--start=2000", "--end=1000"}).code, 1);
}

TEST(QuerySeriesAndLabels, OneALine) {
  const FakeApi series = answering(R"([{"__name__":"up","job":"a\"b"}])");
  EXPECT_EQ(run_tool({"query", "series", series.url(), "--match", "up", "--match=down"}).out,
            "up{job=\"a\\\"b\"}\n");
  EXPECT_EQ(series.requests().at(0).param_all("match[]").size(), 2u);
  const FakeApi labels = answering(R"(["a","b"])");
  EXPECT_EQ(run_tool({"query", "labels", labels.url(), "job"}).out, "a\nb\n");
  EXPECT_EQ(labels.requests().at(0).path, "/api/v1/label/job/values");
}

}  // namespace
}  // namespace vagt
