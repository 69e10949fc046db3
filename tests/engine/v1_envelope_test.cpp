#include "engine/api/v1_envelope.h"

#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"

namespace vagt::engine::api {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;

std::string value_text(double v) {
  std::string out;
  append_json_value(out, v);
  return out;
}
std::string time_text(int64_t millis) {
  std::string out;
  append_json_time(out, from_millis(millis));
  return out;
}

TEST(V1Json, ValuesAsPrometheusSpellsThem) {
  EXPECT_EQ(value_text(1e6), "1000000");
  EXPECT_EQ(value_text(1e21), "1e+21");
  EXPECT_EQ(value_text(1e-7), "1e-07");
  EXPECT_EQ(value_text(1.5e-10), "1.5e-10");
  EXPECT_EQ(value_text(0), "0");
  EXPECT_EQ(value_text(std::nan("")), "NaN");
  EXPECT_EQ(value_text(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(V1Json, TimesHaveMillisecondsWhereThereAreAny) {
  EXPECT_EQ(time_text(1'435'781'451'781), "1435781451.781");
  EXPECT_EQ(time_text(1'000), "1");
  EXPECT_EQ(time_text(1'005), "1.005");
  EXPECT_EQ(time_text(-1'500), "-1.500");
}

TEST(V1Params, TimesAreSecondsOrRfc3339) {
  EXPECT_EQ(to_millis(parse_time_text("1.5").value()), 1500);
  EXPECT_EQ(to_millis(parse_time_text("1970-01-01T00:00:02Z").value()), 2000);
  EXPECT_THAT(parse_time_text("abc"),
              StatusIs(Code::InvalidArgument, "cannot parse \"abc\" to a valid timestamp"));
  EXPECT_EQ(parse_time_text("NaN").value(), kMinTime);
  EXPECT_EQ(parse_time_text("+Inf").value(), kMaxTime);
  EXPECT_THAT(parse_time_text("1e300"), StatusIs(Code::InvalidArgument));
}

TEST(V1Params, DurationsAreSecondsOrUnits) {
  EXPECT_EQ(parse_duration_text("0.5").value(), 500ms);
  EXPECT_EQ(parse_duration_text("1h30m").value(), 90min);
  EXPECT_THAT(parse_duration_text("x"), StatusIs(Code::InvalidArgument));
  EXPECT_THAT(parse_duration_text("1e300"), StatusIs(Code::InvalidArgument, "overflows"));
}

TEST(V1Params, MatchersMustSelectSomething) {
  net::ServerRequest request;
  request.params = {{"match[]", "up"}, {"match[]", "{job=~\"a.*\"}"}};
  EXPECT_EQ(match_params(request).value().size(), 1u + 1u);
  request.params = {{"match[]", "{job=~\".*\"}"}};
  EXPECT_THAT(match_params(request),
              StatusIs(Code::InvalidArgument, "at least one non-empty matcher"));
}

TEST(V1Answer, ErrorsCarryTypeAndStatus) {
  const net::ServerResponse response = v1_error(V1Error::Execution, "found \"duplicates\"");
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.body,
            R"({"status":"error","errorType":"execution","error":"found \"duplicates\""})");
}

TEST(V1Answer, NotesFollowTheData) {
  const auto write = [](base::JsonWriter& w) { w.begin_array().end_array(); };
  EXPECT_EQ(v1_success(write).body, R"({"status":"success","data":[]})");
  EXPECT_EQ(v1_success(write, {"w"}, {"i"}).body,
            R"({"status":"success","data":[],"warnings":["w"],"infos":["i"]})");
}

TEST(V1Answer, ElevenNotesAreTenAndACount) {
  const auto write = [](base::JsonWriter& w) { w.null(); };
  const net::ServerResponse response = v1_success(write, std::vector<std::string>(12, "w"));
  EXPECT_NE(response.body.find(R"("2 more warning annotations omitted"])"), std::string::npos);
}

}  // namespace
}  // namespace vagt::engine::api
