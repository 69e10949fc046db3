// Quantiles over windows of any length that move by little, by much, or past themselves.
#include <bit>
#include <random>

#include "tests/query/naive_numbers.h"
#include "tests/query/query_fixture.h"

namespace vagt::query {
namespace {

class WindowOrderTest : public QueryTest {
 protected:
  // One value a second; zeros of both signs, NaN, infinities and many equal values among them.
  WindowOrderTest() {
    std::mt19937 random(3);
    for (size_t i = 0; i < 1500; ++i) {
      const auto pick = random() % 12;
      double v = static_cast<double>(random() % 40) - 20;
      if (pick == 0) v = normal_nan();
      if (pick == 1) v = -0.0;
      if (pick == 2) v = random() % 2 == 0 ? HUGE_VAL : -HUGE_VAL;
      values_.push_back(v);
    }
    add("x", values_, 1);
  }

  void expect_as_naive(int64_t range, int64_t step, double q) {
    const std::string text =
        "quantile_over_time(" + format_float(q) + ", x[" + std::to_string(range) + "s])";
    const Result<QueryResult> result = ask_range(text, 1, 1499, static_cast<double>(step));
    ASSERT_THAT(result, test::IsOk()) << text;
    const SampleColumns& got = std::get<Matrix>(result->value)[0].samples;
    for (size_t i = 0; i < got.size(); ++i) {
      const int64_t end = to_millis(got.t[i]) / 1000, start = std::max<int64_t>(0, end - range + 1);
      const double wanted = naive_quantile(q, {values_.begin() + start, values_.begin() + end + 1});
      if (std::isnan(wanted) && std::isnan(got.v[i])) continue;
      ASSERT_EQ(std::bit_cast<uint64_t>(got.v[i]), std::bit_cast<uint64_t>(wanted))
          << text << " at " << end << " by " << step << ": " << got.v[i] << " not " << wanted;
    }
  }

  std::vector<double> values_;
};

TEST_F(WindowOrderTest, QuantilesAreThoseOfEachWindowByItself) {
  for (const int64_t range : {5, 30, 200, 700}) {
    for (const int64_t step : {1, 7, 25, 90, 300}) {
      for (const double q : {0.0, 0.35, 1.0}) expect_as_naive(range, step, q);
    }
  }
}

}  // namespace
}  // namespace vagt::query
