// vagtctl lint rules: exit codes, output, and what a server is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/fake_api.h"

namespace vagt {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using test::FakeApi;
using test::run_tool;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LintRulesTest : public ::testing::Test {
 protected:
  LintRulesTest() {
    std::filesystem::create_directories(folder_);
    std::ofstream(path())
        << "groups:\n- name: g\n  rules:\n  - alert: A\n"
           "    expr: rate(jobs[5m]) > 1 or old_seconds > 5 or up{job=\"x\"} == 0\n"
           "    labels: {severity: warning}\n"
           "    annotations: {summary: s, runbook: u}\n";
  }
  ~LintRulesTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "r.yml").string(); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("vagt-lint-" + std::to_string(::getpid()) +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

ServerResponse success(const std::string& data) {
  return ServerResponse::json(200, R"({"status":"success","data":)" + data + "}");
}

// Knows jobs (a gauge), new_seconds and up{job="y"}.
ServerResponse answer(const ServerRequest& request) {
  if (request.path == "/api/v1/metadata") return success(R"({"jobs":[{"type":"gauge"}]})");
  if (request.path == "/api/v1/label/__name__/values")
    return success(R"(["jobs","old_second","up"])");
  const std::string query(request.param("query").value_or(""));
  if (request.param("stats")) {
    return success(
        R"({"resultType":"vector","result":[],"stats":{"samples":{"totalQueryableSamples":42},"timings":{"evalTotalTime":0.0125}}})");
  }
  const bool has_data = query == "count(last_over_time({__name__=\"jobs\"}[1h]))" ||
                        query == "count(last_over_time({__name__=\"up\"}[1h]))";
  return success(has_data ? R"({"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]})"
                          : R"({"resultType":"vector","result":[]})");
}

TEST_F(LintRulesTest, WithoutAServer) {
  const auto ran = run_tool({"lint", "rules", path()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "") << ran.out;
}

TEST_F(LintRulesTest, AServerKnowsTypesDataAndCosts) {
  const FakeApi api(answer);
  const auto ran = run_tool({"lint", "rules", "--fatal", "--cost", "--url", api.url(), path()});
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("jobs is a gauge: rate() takes each fall of it for a restarted "
                                 "counter [rate-on-gauge]\n    here:   rate(jobs[5m])\n    better: "
                                 "deriv(jobs[5m])\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("there is no metric old_seconds; did you mean old_second? [no-data]"));
  EXPECT_THAT(ran.out, HasSubstr("up has no series with job=\"x\" [no-data]"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Samples read"), HasSubstr("42"), HasSubstr("12.50")));
}

TEST_F(LintRulesTest, JsonForTools) {
  const FakeApi api(answer);
  const auto ran = run_tool({"-o", "json", "lint", "rules", "--url", api.url(), path()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr(R"([{"code":"rate-on-gauge","file":)"), HasSubstr(R"("line":4)"),
                    HasSubstr(R"x("better":"deriv(jobs[5m])")x")));
}

TEST_F(LintRulesTest, WhatDoesNotLoadFails) {
  EXPECT_EQ(run_tool({"lint", "rules", path() + ".missing"}).code, 1);
  EXPECT_EQ(run_tool({"lint", "rules", "--cost", path()}).code, 1);
  EXPECT_EQ(run_tool({"lint", "rules", "--scrape-interval=soon", path()}).code, 1);
  const FakeApi broken([](const ServerRequest&) { return success("[]"); });
  EXPECT_EQ(run_tool({"lint", "rules", "--url", broken.url(), path()}).code, 1);
  EXPECT_EQ(run_tool({"lint", "rules", "--url", "http://127.0.0.1:1", path()}).code, 1);
}

}  // namespace
}  // namespace vagt
