// A query whose work lies within few series lets go as soon as time is up or nobody waits, and
// holds no more than it may.
#include <algorithm>
#include <numeric>

#include "query/operators/context.h"
#include "query/operators/sort_checked.h"
#include "query/plan.h"
#include "tests/query/query_fixture.h"

namespace vagt::query {
namespace {

// A millisecond passes between two looks at it. May ask a query to stop at one of them.
class CountingClock final : public Clock {
 public:
  Timestamp now() const override { return {}; }
  std::chrono::steady_clock::time_point steady_now() const override {
    if (++looks == stop_at) stop.request_stop();
    return std::chrono::steady_clock::time_point(Duration(looks));
  }
  bool sleep_until(Timestamp, std::stop_token) override { return false; }

  mutable int64_t looks = 0;
  int64_t stop_at = 0;
  mutable std::stop_source stop;
};

class StopTest : public QueryTest {
 protected:
  // Runs `text` over 500 steps of 10 s with a fresh clock.
  Result<QueryResult> run(const std::string& text, CountingClock& clock, Duration timeout) {
    options_.clock = &clock;
    options_.timeout = timeout;
    return eval_range(*plan(text), store_, seconds(10'000), seconds(14'990),
                      std::chrono::seconds(10), options_, clock.stop.get_token());
  }

  // Looks at the clock at least `least` times over its whole run, and ends half way when told to.
  void expect_lets_go(const std::string& text, int64_t least) {
    CountingClock free;
    ASSERT_THAT(run(text, free, std::chrono::hours(1)), test::IsOk()) << text;
    EXPECT_GE(free.looks, least) << text;
    const int64_t half = free.looks / 2;
    CountingClock timed;
    EXPECT_THAT(run(text, timed, Duration(half)), test::StatusIs(Code::Timeout)) << text;
    EXPECT_LE(timed.looks, half + 2) << text;
    CountingClock cancelled;
    cancelled.stop_at = half;
    EXPECT_THAT(run(text, cancelled, std::chrono::hours(1)), test::StatusIs(Code::Cancelled))
        << text;
    EXPECT_LE(cancelled.looks, half + 1) << text;
  }

  // One series with a value a second, falling now and then.
  void add_long_series() {
    std::vector<double> values(20'000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(i * 7919 % 1013) + 0.1;
    add("x_total{job=\"a\"}", values, 1);
  }
  // `count` series of one name that differ in one label.
  void add_wide(const std::string& name, const std::string& label, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      std::vector<double> values(200);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>((k * 31 + i * 7919) % 1013);
      add(name + "{" + label + "=\"" + std::to_string(k) + "\"}", values, 100);
    }
  }
};

TEST_F(StopTest, WithinTheWindowsOfOneSeries) {
  add_long_series();
  for (const char* call :
       {"rate(x_total[1h])", "increase(x_total[1h])", "deriv(x_total[1h])",
        "predict_linear(x_total[1h], 60)", "double_exponential_smoothing(x_total[1h], 0.5, 0.5)",
        "sum_over_time(x_total[1h])", "avg_over_time(x_total[1h])", "stddev_over_time(x_total[1h])",
        "mad_over_time(x_total[1h])", "ts_of_max_over_time(x_total[1h])",
        "quantile_over_time(0.5, x_total[1h])", "increase(x_total[1h] anchored)",
        "rate(x_total[1h] smoothed)", "changes(x_total[1h] anchored)"})
    expect_lets_go(call, 20);
}

TEST_F(StopTest, WithinNestedSubqueries) {
  add_long_series();
  expect_lets_go("quantile_over_time(0.9, quantile_over_time(0.1, x_total[10m:1s])[30m:1s])", 50);
  expect_lets_go("max_over_time(stddev_over_time(x_total[10m:1s])[30m:1s])", 50);
  expect_lets_go("mad_over_time(mad_over_time(mad_over_time(x_total[1m:1s])[2m:1s])[3m:1s])", 50);
}

TEST_F(StopTest, BetweenSeriesOfOneGroup) {
  add_wide("y", "i", 300);
  expect_lets_go("quantile(0.5, y)", 5);
  expect_lets_go("topk(300, y)", 20);
  expect_lets_go("count_values(\"v\", y)", 5);
  expect_lets_go("sum(y)", 5);
  expect_lets_go("label_replace(y, \"j\", \"$1\", \"i\", \"(.*)\")", 5);
  expect_lets_go("y * on (i) y", 5);
  expect_lets_go("y > on (i) group_left () (y offset 100s)", 5);
  expect_lets_go("y and on (i) y offset 100s", 5);
}

TEST_F(StopTest, BetweenManyPartnersOfOneSeries) {
  add("one", std::vector<double>(200, 1), 100);
  options_.lookback = std::chrono::seconds(100);
  for (size_t k = 0; k < 200; ++k) {
    std::vector<double> values(200, kGap);
    values[k] = 1;
    add("partner{v=\"" + std::to_string(k) + "\"}", values, 100);
  }
  expect_lets_go("one * on () group_left (v) partner", 3);
}

TEST_F(StopTest, BetweenTheBucketsOfOneHistogram) {
  add_wide("h_bucket", "le", 300);
  add("h_bucket{le=\"+Inf\"}", std::vector<double>(200, 1e6), 100);
  expect_lets_go("histogram_quantile(0.5, h_bucket)", 20);
  expect_lets_go("histogram_fraction(1, 5, h_bucket)", 20);
}

TEST_F(StopTest, BetweenTheInfoSeriesOfOneTarget) {
  add("z{instance=\"a\",job=\"b\"}", std::vector<double>(200, 1), 100);
  options_.lookback = std::chrono::seconds(100);
  for (size_t k = 0; k < 200; ++k) {
    std::vector<double> values(200, kGap);
    values[k] = 1;
    add("target_info{instance=\"a\",job=\"b\",v=\"" + std::to_string(k) + "\"}", values, 100);
  }
  expect_lets_go("info(z)", 3);
}

TEST_F(StopTest, LongSortsAreStableAndLetGo) {
  CountingClock clock;
  options_.clock = &clock;
  const PlanPtr any = plan("1");
  EvalContext context(*any, options_, {seconds(0), Duration(0), 1}, seconds(0),
                      clock.stop.get_token());
  std::vector<std::pair<int, int>> values;
  for (int i = 0; i < 100'000; ++i) values.emplace_back(i * 7919 % 1013, i);
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  auto wanted = values, got = values;
  std::stable_sort(wanted.begin(), wanted.end(), less);
  sort_checked(got, less, context);
  EXPECT_EQ(got, wanted);
  EXPECT_GE(clock.looks, 10);
  clock.stop_at = clock.looks + 5;
  sort_checked(values, less, context);
  EXPECT_THAT(context.check(), test::StatusIs(Code::Cancelled));
  EXPECT_EQ(clock.looks, clock.stop_at);
}

// What is made from few series may be as much as there are steps times steps.
TEST_F(StopTest, RefusesToHoldWhatGrowsOnTheWay) {
  std::vector<double> values(2000);
  std::iota(values.begin(), values.end(), 0.0);
  add("up_total", values);
  add("h_bucket{le=\"1\"}", values);
  add("h_bucket{le=\"+Inf\"}", values);
  options_.max_samples = 200'000;
  for (const char* text :
       {"count_values(\"v\", up_total)", "histogram_quantiles(h_bucket, \"q\", time() / 1e5)",
        "quantile by (i) (0.5, label_replace(up_total, \"i\", \"a\", \"\", \"\"))"}) {
    const Result<QueryResult> result = ask_range(text, 0, 19'990, 10);
    if (text[0] == 'q') {
      EXPECT_THAT(result, test::IsOk()) << text;
    } else {
      EXPECT_THAT(result, test::StatusIs(Code::LimitExceeded)) << text;
    }
    EXPECT_LE(stats_.peak_samples, 210'000u) << text;
  }
  // A row of each sub-query in flight counts.
  options_.max_samples = 50'000;
  EXPECT_THAT(ask("max_over_time(up_total[4h:1s])", 19'990), test::IsOk());
  EXPECT_THAT(ask("max_over_time(max_over_time(up_total[1m:1s])[4h:1s])", 19'990),
              test::StatusIs(Code::LimitExceeded));
}

}  // namespace
}  // namespace vagt::query
