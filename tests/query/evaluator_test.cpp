#include "query/evaluator.h"

#include "query/functions.h"
#include "tests/query/query_fixture.h"
#include "tests/support/manual_clock.h"

namespace vagt::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EvaluatorTest : public QueryTest {};

TEST_F(EvaluatorTest, LookbackLeavesOutItsFirstInstant) {
  add("up", {1});
  EXPECT_EQ(at(0, "up"), "up 1");
  EXPECT_EQ(at(299.999, "up"), "up 1");
  EXPECT_EQ(at(300, "up"), "");
}

TEST_F(EvaluatorTest, RangesLeaveOutTheirFirstInstant) {
  add("x", {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(at(60, "count_over_time(x[1m])"), "{} 6");
  EXPECT_EQ(at(60, "sum_over_time(x[10s])"), "{} 7");
  EXPECT_EQ(at(60, "rate(x[10s])"), "");
  EXPECT_EQ(at(60, "count_over_time(x[1m:10s])"), "{} 6");
  EXPECT_EQ(at(20, "x[20s]"), "x 2@10 3@20");
}

TEST_F(EvaluatorTest, AStaleMarkerEndsASeriesAtOnce) {
  add("x", {1, 2, stale_marker(), 4});
  EXPECT_EQ(at(15, "x"), "x 2");
  EXPECT_EQ(at(20, "x"), "");
  EXPECT_EQ(at(29, "x"), "");
  EXPECT_EQ(at(30, "x"), "x 4");
  EXPECT_EQ(at(30, "count_over_time(x[1m])"), "{} 3");
}

TEST_F(EvaluatorTest, RateExtrapolatesAndSeesResets) {
  add("c_total", {0, 10, 20, 5, 15});
  // 35 over 40 s sampled; both edges are 10 s or nearer.
  EXPECT_EQ(at(40, "increase(c_total[40s])"), "{} 33.33333333333333");
  EXPECT_EQ(at(40, "delta(c_total[40s])"), "{} 6.666666666666666");
  EXPECT_EQ(at(40, "irate(c_total[1m])"), "{} 1");
  EXPECT_EQ(at(30, "irate(c_total[1m])"), "{} 0.5");
  EXPECT_EQ(at(40, "idelta(c_total[1m])"), "{} 10");
  EXPECT_EQ(at(40, "resets(c_total[1m])"), "{} 1");
  EXPECT_EQ(at(40, "changes(c_total[1m])"), "{} 4");
}

TEST_F(EvaluatorTest, ACounterIsNotExtrapolatedBelowZero) {
  add("c_total", {kGap, kGap, 1, 11, 21});
  // Half an interval would be 5 s, but the counter was zero 1 s before its first sample.
  EXPECT_EQ(at(40, "increase(c_total[1m])"), "{} 21");
}

TEST_F(EvaluatorTest, SumsKeepWhatPlainAdditionLoses) {
  add("x", {1e16, 1, -1e16});
  EXPECT_EQ(at(20, "sum_over_time(x[1m])"), "{} 1");
  add("y{i=\"a\"}", {1e16});
  add("y{i=\"b\"}", {1});
  add("y{i=\"c\"}", {-1e16});
  EXPECT_EQ(at(0, "sum(y)"), "{} 1");
  add("big", {1.7e308, 1.7e308});
  EXPECT_EQ(at(10, "avg_over_time(big[1m])"), "{} " + format_float(1.7e308));
  EXPECT_EQ(at(10, "sum_over_time(big[1m])"), "{} +Inf");
}

TEST_F(EvaluatorTest, NanIsTheLastResortOfMinAndMax) {
  add("x{i=\"a\"}", {normal_nan()});
  add("x{i=\"b\"}", {2});
  add("x{i=\"c\"}", {1});
  EXPECT_EQ(at(0, "max(x)"), "{} 2");
  EXPECT_EQ(at(0, "min(x)"), "{} 1");
  EXPECT_EQ(at(0, "sort(x)"), "x{i=\"c\"} 1; x{i=\"b\"} 2; x{i=\"a\"} NaN");
  EXPECT_EQ(at(0, "sort_desc(x)"), "x{i=\"b\"} 2; x{i=\"c\"} 1; x{i=\"a\"} NaN");
  EXPECT_EQ(at(0, "topk(2, x)"), "x{i=\"b\"} 2; x{i=\"c\"} 1");
  EXPECT_EQ(at(0, "bottomk(1, x)"), "x{i=\"c\"} 1");
  EXPECT_EQ(at(0, "quantile(0.5, x)"), "{} 1");
}

TEST_F(EvaluatorTest, ParametersMayChangeWithTheStep) {
  add("n", {1, 2, 3});
  add("x{i=\"a\"}", {1, 1, 1});
  add("x{i=\"b\"}", {2, 2, 2});
  EXPECT_EQ(over(0, 20, 10, "count(topk(scalar(n), x))"), "{} 1@0 2@10 2@20");
  EXPECT_EQ(at(0, "topk(NaN, x)"), "error: Parameter value is NaN");
  EXPECT_EQ(at(0, "topk(1e30, x)"), "error: Scalar value 1e+30 overflows int64");
  EXPECT_EQ(at(0, "topk(0, x)"), "");
}

TEST_F(EvaluatorTest, NamesGoWhereTheValueIsNoLongerTheMetrics) {
  add("a{i=\"1\"}", {3});
  add("b{i=\"1\"}", {4});
  EXPECT_EQ(at(0, "abs(a)"), "{i=\"1\"} 3");
  EXPECT_EQ(at(0, "a > 1"), "a{i=\"1\"} 3");
  EXPECT_EQ(at(0, "a > bool 1"), "{i=\"1\"} 1");
  EXPECT_EQ(at(0, "last_over_time(a[1m])"), "a{i=\"1\"} 3");
  EXPECT_EQ(at(0, "-{__name__=~\"a|b\"}"),
            "error: vector cannot contain metrics with the same labelset");
  EXPECT_EQ(at(0, "abs({__name__=~\"a|b\"})"),
            "error: vector cannot contain metrics with the same labelset");
  options_.delayed_name_removal = true;
  EXPECT_EQ(at(0, "sum by (__name__) (abs({__name__=~\"a|b\"}))"),
            "error: vector cannot contain metrics with the same labelset");
  EXPECT_EQ(at(0, "label_replace(abs(a), \"was\", \"$1\", \"__name__\", \"(.+)\")"),
            "{i=\"1\", was=\"a\"} 3");
}

TEST_F(EvaluatorTest, MatchesOneToOne) {
  add("a{i=\"1\", x=\"p\"}", {6});
  add("a{i=\"2\", x=\"p\"}", {8});
  add("b{i=\"1\"}", {2});
  EXPECT_EQ(at(0, "a / on(i) b"), "{i=\"1\"} 3");
  EXPECT_EQ(at(0, "a / ignoring(x) b"), "{i=\"1\"} 3");
  EXPECT_EQ(at(0, "a > ignoring(x) b"), "a{i=\"1\"} 6");
  EXPECT_EQ(at(0, "a / on() b"),
            "error: multiple matches for labels: many-to-one matching must be explicit "
            "(group_left/group_right)");
  // A filter does not excuse it either.
  EXPECT_THAT(at(0, "a > on() (b + 5)"), HasSubstr("many-to-one matching must be explicit"));
}

TEST_F(EvaluatorTest, MatchesManyToOneWithLabels) {
  add("cpu{i=\"1\", mode=\"idle\"}", {6});
  add("cpu{i=\"1\", mode=\"user\"}", {2});
  add("role{i=\"1\", role=\"db\"}", {2});
  EXPECT_EQ(at(0, "cpu * on(i) group_left(role) role"),
            "{i=\"1\", mode=\"idle\", role=\"db\"} 12; {i=\"1\", mode=\"user\", role=\"db\"} 4");
  EXPECT_EQ(at(0, "role - on(i) group_right cpu"),
            "{i=\"1\", mode=\"idle\"} -4; {i=\"1\", mode=\"user\"} 0");
  add("role{i=\"1\", role=\"web\"}", {3});
  EXPECT_EQ(at(0, "cpu * on(i) group_left role"),
            "error: found duplicate series for the match group {i=\"1\"} on the right hand-side of "
            "the operation: [role{i=\"1\", role=\"web\"}, role{i=\"1\", "
            "role=\"db\"}];many-to-many matching not allowed: matching labels must be unique on "
            "one side");
  // Without anything to match there is nothing wrong.
  EXPECT_EQ(at(0, "nothing * on(i) group_left role"), "");
}

TEST_F(EvaluatorTest, FillsInForMissingSeries) {
  add("l{i=\"a\"}", {1});
  add("l{i=\"b\"}", {2});
  add("r{i=\"a\"}", {10});
  add("r{i=\"c\"}", {30});
  EXPECT_EQ(at(0, "l + fill(0) r"), "{i=\"a\"} 11; {i=\"b\"} 2; {i=\"c\"} 30");
  EXPECT_EQ(at(0, "l + fill_left(5) r"), "{i=\"a\"} 11; {i=\"c\"} 35");
}

TEST_F(EvaluatorTest, SetOperatorsGoStepByStep) {
  add("a{i=\"1\"}", {1, 1, stale_marker(), 1});
  add("b{i=\"1\"}", {2, stale_marker(), 2, 2});
  EXPECT_EQ(over(0, 30, 10, "a and ignoring() b"), "a{i=\"1\"} 1@0 1@30");
  EXPECT_EQ(over(0, 30, 10, "a unless b"), "a{i=\"1\"} 1@10");
  EXPECT_EQ(over(0, 30, 10, "a or b"), "a{i=\"1\"} 1@0 1@10 1@30; b{i=\"1\"} 2@20");
}

TEST_F(EvaluatorTest, OffsetAndAtMoveTheInstant) {
  add("x", {0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(at(60, "x offset 20s"), "x 4");
  EXPECT_EQ(at(20, "x offset -20s"), "x 4");
  EXPECT_EQ(over(0, 20, 10, "x @ 50"), "x 5@0 5@10 5@20");
  EXPECT_EQ(over(10, 30, 10, "x @ end()"), "x 3@10 3@20 3@30");
  EXPECT_EQ(at(0, "sum_over_time(x[20s] @ 60 offset 10s)"), "{} 9");
  EXPECT_EQ(over(20, 60, 20, "x offset step()"), "x 0@20 2@40 4@60");
  EXPECT_THAT(at(60, "count_over_time(x[step()])"), HasSubstr("duration must be greater than 0"));
}

TEST_F(EvaluatorTest, SubqueriesStepOnMultiples) {
  add("x", {0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(at(65, "sum_over_time(x[30s:20s])"), "{} 10");
  EXPECT_EQ(at(65, "x[30s:20s]"), "x 4@40 6@60");
  EXPECT_EQ(at(60, "max_over_time(rate(x[20s])[1m:10s])"), "{} 0.1");
  EXPECT_EQ(at(60, "max_over_time((x > 100)[1m:10s])"), "");
}

TEST_F(EvaluatorTest, AbsenceKeepsWhatTheSelectorPinned) {
  add("x", {1, 1});
  EXPECT_EQ(at(0, "absent(no{a=\"b\", c=~\"d\", e=\"1\", e=\"2\"})"), "{a=\"b\"} 1");
  EXPECT_EQ(at(0, "absent(x)"), "");
  EXPECT_EQ(over(0, 600, 300, "absent(x)"), "{} 1@600");
  EXPECT_EQ(over(0, 600, 300, "absent_over_time(x[1m])"), "{} 1@300 1@600");
}

TEST_F(EvaluatorTest, ClassicHistograms) {
  add("h_bucket{le=\"1\"}", {2});
  add("h_bucket{le=\"2\"}", {6});
  add("h_bucket{le=\"+Inf\"}", {8});
  add("h_bucket{le=\"nonsense\"}", {8});
  EXPECT_EQ(at(0, "histogram_quantile(0.5, h_bucket)"), "{} 1.5");
  EXPECT_EQ(at(0, "histogram_quantile(0.9, h_bucket)"), "{} 2");
  EXPECT_EQ(at(0, "histogram_fraction(0, 1.5, h_bucket)"), "{} 0.5");
  const Result<QueryResult> result = ask("histogram_quantile(2, h_bucket)", 0);
  ASSERT_THAT(result, test::IsOk());
  EXPECT_THAT(
      result->warnings,
      ElementsAre("PromQL warning: bucket label \"le\" is missing or has a malformed value of "
                  "\"nonsense\" for metric name \"h_bucket\" (1:23)",
                  "PromQL warning: quantile value should be between 0 and 1, got 2 (1:20)"));
}

TEST_F(EvaluatorTest, SaysWhenARateIsOfNoCounter) {
  add("gauge", {1, 2, 3});
  add("c_total", {1, 2, 3});
  const Result<QueryResult> gauge = ask("1 +\n rate(gauge[1m])", 20);
  ASSERT_THAT(gauge, test::IsOk());
  EXPECT_THAT(gauge->infos, ElementsAre("PromQL info: metric might not be a counter, name does not "
                                        "end in _total/_sum/_count/_bucket: \"gauge\" (2:7)"));
  const Result<QueryResult> counter = ask("rate(c_total[1m])", 20);
  ASSERT_THAT(counter, test::IsOk());
  EXPECT_THAT(counter->infos, IsEmpty());
}

// Values that multiply their length with each call count as the memory they take.
TEST_F(EvaluatorTest, LabelFunctionsDoNotGrowWithoutLimit) {
  options_.max_samples = 10'000;
  std::string joins = "label_replace(vector(1), \"a\", \"0123456789abcdef\", \"\", \"\")";
  std::string replaces = joins;
  for (int i = 0; i < 14; ++i) {
    joins = "label_join(" + joins + ", \"a\", \"\", \"a\", \"a\", \"a\")";
    replaces = "label_replace(" + replaces + ", \"a\", \"$1$1$1\", \"a\", \"(.*)\")";
  }
  for (const std::string& text : {joins, replaces})
    EXPECT_EQ(at(0, text),
              "error: query processing would load too many samples into memory in query execution");
}

// The time to find the duplicates must not grow with the square of their number.
TEST_F(EvaluatorTest, ManyDuplicatesAreFoundAtOnce) {
  for (int i = 0; i < 20'000; ++i) add("x{i=\"" + std::to_string(i) + "\"}", {1});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(at(0, "x * on() x"), HasSubstr("many-to-many matching not allowed"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(EvaluatorTest, LabelFunctionsRefuseCollisions) {
  add("x{i=\"a\"}", {1});
  add("x{i=\"b\"}", {2});
  EXPECT_EQ(at(0, "label_replace(x, \"j\", \"<$1>\", \"i\", \"(.)\")"),
            "x{i=\"a\", j=\"<a>\"} 1; x{i=\"b\", j=\"<b>\"} 2");
  EXPECT_EQ(at(0, "label_join(x, \"j\", \"-\", \"i\", \"i\")"),
            "x{i=\"a\", j=\"a-a\"} 1; x{i=\"b\", j=\"b-b\"} 2");
  EXPECT_EQ(at(0, "label_replace(x, \"i\", \"c\", \"i\", \".*\")"),
            "error: vector cannot contain metrics with the same labelset");
  EXPECT_EQ(at(0, "label_replace(x, \"i\", \"\", \"i\", \"(\")"),
            "error: invalid regular expression in label_replace(): (");
}

TEST_F(EvaluatorTest, ScalarsStringsAndTheirRanges) {
  EXPECT_EQ(at(7, "1 + 2 * time()"), "15");
  EXPECT_EQ(at(0, "(\"text\")"), "\"text\"");
  EXPECT_EQ(over(0, 10, 5, "time()"), "{} 0@0 5@5 10@10");
  EXPECT_EQ(over(0, 12, 5, "vector(end())"), "{} 12@0 12@5 12@10");
  EXPECT_THAT(over(0, 10, 5, "\"text\""), HasSubstr("invalid expression type"));
  EXPECT_THAT(over(0, 10, 5, "x[1m]"), HasSubstr("invalid expression type"));
  EXPECT_EQ(at(0, "scalar(nothing)"), "NaN");
}

TEST_F(EvaluatorTest, CountsValuesAndLimitsSeries) {
  add("v{i=\"a\"}", {6, 7});
  add("v{i=\"b\"}", {6, 6});
  add("v{i=\"c\"}", {8, 6});
  EXPECT_EQ(at(0, "count_values(\"n\", v)"), "{n=\"6\"} 2; {n=\"8\"} 1");
  EXPECT_EQ(over(0, 10, 10, "count_values(\"n\", v)"),
            "{n=\"6\"} 2@0 2@10; {n=\"7\"} 1@10; {n=\"8\"} 1@0");
  EXPECT_EQ(at(0, "count_values(\"a\\xc5z\", v)"), "error: invalid label name \"a\\xc5z\"");
  EXPECT_EQ(at(0, "count(limitk(2, v))"), "{} 2");
  EXPECT_EQ(at(0, "count(limit_ratio(0.3, v) or limit_ratio(-0.7, v))"), "{} 3");
  EXPECT_EQ(at(0, "limit_ratio(0.3, v) and limit_ratio(-0.7, v)"), "");
}

TEST_F(EvaluatorTest, SortsLabelsNaturally) {
  add("v{i=\"n10\"}", {1});
  add("v{i=\"n9\"}", {2});
  add("v{i=\"m\"}", {3});
  EXPECT_EQ(at(0, "sort_by_label(v, \"i\")"), "v{i=\"m\"} 3; v{i=\"n9\"} 2; v{i=\"n10\"} 1");
  EXPECT_EQ(at(0, "sort_by_label_desc(v, \"i\")"), "v{i=\"n10\"} 1; v{i=\"n9\"} 2; v{i=\"m\"} 3");
  const Result<QueryResult> ranged = ask_range("sort(v)", 0, 10, 10);
  ASSERT_THAT(ranged, test::IsOk());
  EXPECT_THAT(ranged->warnings,
              ElementsAre("PromQL warning: sort is ineffective for range queries since results "
                          "are always ordered by labels (1:1)"));
}

TEST_F(EvaluatorTest, DatesAndOddNumbers) {
  add("t", {1456790400});
  EXPECT_EQ(at(0, "day_of_month(t) + 100 * month(t)"), "{} 301");
  EXPECT_EQ(at(0, "days_in_month(t - 86400)"), "{} 29");
  EXPECT_EQ(at(0, "day_of_week(t) + day_of_year(t) / 1000"), "{} 2.061");
  EXPECT_EQ(at(86399.9, "hour() * 100 + minute()"), "{} 2359");
  EXPECT_EQ(at(0, "year(vector(-1))"), "{} 1969");
  EXPECT_EQ(at(0, "clamp(vector(NaN), 0, 1)"), "{} NaN");
  EXPECT_EQ(at(0, "clamp(vector(5), 2, 1)"), "");
  EXPECT_EQ(at(0, "round(vector(-0.5))"), "{} 0");
  EXPECT_EQ(at(0, "1 % 0"), "NaN");
  EXPECT_EQ(at(0, "min_of(-Inf, NaN)"), "-Inf");
}

TEST_F(EvaluatorTest, TrendsOfASeries) {
  add("x", {0, 10, 20, 30, 40});
  EXPECT_EQ(at(40, "deriv(x[1m])"), "{} 1");
  EXPECT_EQ(at(40, "predict_linear(x[1m], 60)"), "{} 100");
  EXPECT_EQ(at(40, "predict_linear(x[1m] offset 10s, 60)"), "{} 100");
  EXPECT_EQ(at(40, "double_exponential_smoothing(x[1m], 0.5, 0.5)"), "{} 40");
  EXPECT_EQ(at(40, "double_exponential_smoothing(x[1m], 1.5, 0.5)"),
            "error: invalid smoothing factor. Expected: 0 < sf < 1, got: 1.500000");
  EXPECT_EQ(at(40, "mad_over_time(x[1m])"), "{} 10");
  EXPECT_EQ(at(40, "ts_of_max_over_time(x[1m])"), "{} 40");
  EXPECT_EQ(at(45, "timestamp(x)"), "{} 40");
  EXPECT_EQ(at(45, "timestamp(x + 0)"), "{} 45");
}

TEST_F(EvaluatorTest, EveryFunctionOfTheTableEvaluates) {
  add("x{le=\"1\"}", {1, 2, 3});
  add("x{le=\"+Inf\"}", {1, 2, 3});
  for (const FunctionSignature& function : all_functions()) {
    std::string text = std::string(function.name) + "(";
    for (size_t i = 0; i < function.args.size(); ++i) {
      if (i > 0) text += ", ";
      switch (function.args[i]) {
        case ValueType::Scalar:
          text += "0.5";
          break;
        case ValueType::Matrix:
          text += "x[1m]";
          break;
        case ValueType::String:
          text += "\"le\"";
          break;
        default:
          text += function.name == "info" && i == 1 ? "{a=~\".*\"}" : "x";
      }
    }
    text += ")";
    // An error may be what these arguments deserve, but never that nobody knows the function.
    for (const Result<QueryResult>& result : {ask(text, 20), ask_range(text, 0, 20, 10)}) {
      const Code code = result.status().code();
      EXPECT_TRUE(code == Code::Ok || code == Code::InvalidArgument) << text;
    }
  }
}

TEST_F(EvaluatorTest, ReadsASelectorOnceEvenIfWrittenTwice) {
  add("x{i=\"a\"}", {1, 2, 3, 4});
  EXPECT_EQ(at(30, "x + rate(x[20s]) * 0 + x offset 10s"), "{i=\"a\"} 7");
  EXPECT_EQ(stats_.series_read, 1U);
}

TEST_F(EvaluatorTest, RefusesToHoldTooMuch) {
  add("x", std::vector<double>(100, 1.0), 1);
  options_.max_samples = 50;
  EXPECT_EQ(at(50, "sum_over_time(x[30s])"), "{} 30");
  EXPECT_THAT(ask("sum_over_time(x[80s])", 90),
              test::StatusIs(Code::LimitExceeded,
                             "query processing would load too many samples into memory in query "
                             "execution"));
}

TEST_F(EvaluatorTest, RefusesStepsWithoutEnd) {
  add("x", {1});
  EXPECT_THAT(ask("sum_over_time(x[10y:1ms])", 0), test::StatusIs(Code::LimitExceeded));
  EXPECT_THAT(ask_range("time()", 0, 1e12, 0.001), test::StatusIs(Code::LimitExceeded));
}

TEST_F(EvaluatorTest, StopsWhenTimeIsUpOrNobodyWaits) {
  add("x", {1});
  test::ManualClock clock;
  options_.clock = &clock;
  options_.timeout = Duration(0);
  EXPECT_THAT(ask("x", 0),
              test::StatusIs(Code::Timeout, "query timed out in expression evaluation"));
  options_.timeout = Duration(1);
  EXPECT_THAT(ask("x", 0), test::IsOk());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(eval_instant(*plan("x"), store_, seconds(0), options_, stop.get_token()),
              test::StatusIs(Code::Cancelled, "query was canceled in expression evaluation"));
}

TEST_F(EvaluatorTest, OnePlanServesManyRuns) {
  add("x", {1, 2, 3});
  const PlanPtr made = plan("sum(x) + count_over_time(x[1m:])");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(eval_instant(*made, store_, seconds(10.0 * i), options_), test::IsOk());
}

TEST_F(EvaluatorTest, InfoAddsTheTargetsLabels) {
  add("x{instance=\"h\", job=\"j\"}", {1});
  add("target_info{instance=\"h\", job=\"j\", os=\"linux\"}", {1});
  EXPECT_EQ(at(0, "info(x)"), "x{instance=\"h\", job=\"j\", os=\"linux\"} 1");
  EXPECT_EQ(at(0, "info(x, {os=\"bsd\"})"), "");
}

TEST_F(EvaluatorTest, AnchoredAndSmoothedEdges) {
  add("c_total", {1, 2, 3, 4, 5}, 15);
  EXPECT_EQ(at(50, "increase(c_total[1m] anchored)"), "{} 3");
  EXPECT_EQ(at(20, "increase(c_total[15s] smoothed)"), "{} 1.0000000000000002");
  EXPECT_EQ(at(20, "c_total smoothed"), "c_total 2.3333333333333335");
  EXPECT_EQ(at(20, "sum_over_time(c_total[1m] anchored)"),
            "error: anchored modifier can only be used with: changes, delta, increase, rate, "
            "resets - not with sum_over_time");
}

}  // namespace
}  // namespace vagt::query
