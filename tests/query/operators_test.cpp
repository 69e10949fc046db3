// Generated queries over generated data: the operators give what the naive evaluator gives, to the
// bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "query/evaluator.h"
#include "query/parse.h"
#include "tests/query/naive_evaluator.h"
#include "tests/support/status_matchers.h"
#include "tsdb/memory_store.h"

namespace vagt::query {
namespace {

constexpr int64_t kDataMs = 600'000;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::vector<NaiveSeries> data() {
    std::vector<NaiveSeries> all;
    for (const char* name : {"a_total", "b", "c"}) {
      for (const char* i : {"1", "2", "3"}) {
        for (const char* k : {"x", "y"}) {
          if (below(5) == 0) continue;
          all.push_back({{{"__name__", name}, {"i", i}, {"k", k}}, samples()});
        }
      }
      all.push_back({{{"__name__", name}}, samples()});
    }
    std::sort(all.begin(), all.end(), [](const NaiveSeries& a, const NaiveSeries& b) {
      return Labels::from_map(a.labels) < Labels::from_map(b.labels);
    });
    return all;
  }

  std::string vector(int depth) {
    if (depth <= 0) return selector();
    switch (below(ordered_ > 0 ? 7 : 9)) {
      case 0:
        return selector();
      case 1:
        return range_call(depth);
      case 2:
        return "(" + vector(depth - 1) + pick({" and on(i) ", " unless ", " or ", " * on(i, k) "}) +
               selector() + ")";
      case 3:
        return pick({"abs(", "ceil(", "-("}) + vector(depth - 1) + ")";
      case 4:
        return "(" + vector(depth - 1) + pick({" + ", " - ", " * ", " / ", " % "}) + scalar() + ")";
      case 5:
        return "(" + scalar() + pick({" > bool ", " < bool ", " == bool ", " - "}) +
               vector(depth - 1) + ")";
      case 6:
        return "(" + vector(depth - 1) + pick({" > ", " < ", " != ", " >= ", " <= "}) + scalar() +
               ")";
      case 7:
        if (below(2) == 0) return aggregate(depth);
        return "(" + vector(depth - 1) +
               pick({" and", " or", " unless", " +", " -", " *", " >", " < bool"}) +
               pick({" ", " on(i) ", " ignoring(k) ", " on(i, k) ", " ignoring(i) "}) +
               vector(depth - 1) + ")";
      default:
        return "(" + vector(depth - 1) + pick({" +", " /", " >", " == bool"}) +
               pick({" on(i)", " ignoring(k)", " on(k)"}) +
               pick({" group_left ", " group_left(k) ", " group_right "}) + aggregate(depth - 1) +
               ")";
    }
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + static_cast<std::ptrdiff_t>(below(words.size())));
  }

  std::vector<std::pair<int64_t, double>> samples() {
    std::vector<std::pair<int64_t, double>> out;
    const int kind = static_cast<int>(below(4));
    double counter = 0;
    for (int64_t t = static_cast<int64_t>(below(3)) * 5000; t <= kDataMs; t += 15'000) {
      if (below(8) == 0) continue;
      double v = 0;
      switch (kind) {
        case 0:  // a counter
          counter = below(12) == 0 ? 0 : counter + static_cast<double>(below(20));
          v = counter;
          break;
        case 1:  // anything
          v = std::normal_distribution<double>(0, 1e3)(random_);
          break;
        case 2:  // hard to add up
          v = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random_),
                         static_cast<int>(below(200)));
          break;
        default:  // odd values
          v = std::array{0.0, -0.0, 1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1.7e308}[below(7)];
      }
      if (std::isnan(v)) v = normal_nan();
      if (below(20) == 0) v = stale_marker();
      out.emplace_back(t + static_cast<int64_t>(below(3)), v);
    }
    return out;
  }

  std::string modifiers() {
    return pick({"", "", "", " offset 1m", " offset -30s", " @ 300", " @ 200 offset 20s"});
  }
  std::string bare() {
    return pick({"a_total", "b", "c", "b{i=\"1\"}", "c{k!=\"x\"}", "a_total{i=~\"1|2\"}",
                 "{__name__=~\"b|c\",k=\"x\"}"});
  }
  std::string selector() { return bare() + modifiers(); }
  std::string scalar() {
    return pick({"2", "0", "-1.5", "100", "(time() / 100)", "scalar(b{i=\"1\",k=\"x\"})"});
  }
  std::string range_call(int depth) {
    const std::string range =
        ordered_ > 0 || below(3) != 0
            ? bare() + pick({"[1m]", "[100s]", "[45s]", "[5m]"}) + modifiers()
            : "(" + vector(depth - 1) + ")" + pick({"[2m:30s]", "[1m:7s]", "[3m:]"}) + modifiers();
    if (below(6) == 0)
      return "quantile_over_time(" + pick({"0.3", "0.9", "1"}) + ", " + range + ")";
    return pick({"rate", "increase", "delta", "irate", "idelta", "changes", "resets",
                 "sum_over_time", "avg_over_time", "min_over_time", "max_over_time",
                 "count_over_time", "last_over_time", "first_over_time", "present_over_time",
                 "stddev_over_time", "stdvar_over_time"}) +
           "(" + range + ")";
  }
  std::string aggregate(int depth) {
    const std::string by = pick({"", " by (i)", " by (i, k)", " without (k)", " by (k)"});
    if (below(2) == 0) {
      const std::string op = pick({"min", "max", "count", "group", "quantile"});
      return op + by + (op == "quantile" ? "(0.4, " : "(") + vector(depth - 1) + ")";
    }
    // What is added up comes in series order on both sides, or the last bit may differ.
    ++ordered_;
    const std::string sum = pick({"sum", "avg"}) + by + "(" + vector(depth - 1) + ")";
    --ordered_;
    return sum;
  }

  std::mt19937 random_;
  int ordered_ = 0;
};

void fill(tsdb::MemoryStore& store, const std::vector<NaiveSeries>& data) {
  const auto appender = store.appender();
  for (const NaiveSeries& series : data) {
    const tsdb::SeriesRef ref = appender->series(Labels::from_map(series.labels)).value();
    for (const auto& [t, v] : series.samples)
      ASSERT_EQ(appender->append(ref, {from_millis(t), v}), Code::Ok);
  }
  ASSERT_THAT(appender->commit(), test::IsOk());
}

// Bits, so that the sign of zero counts; all NaN are one.
using Table = std::map<std::map<std::string, std::string>, std::map<int64_t, uint64_t>>;
uint64_t bits(double v) { return std::bit_cast<uint64_t>(std::isnan(v) ? std::nan("") : v); }

Table planned_table(const Result<QueryResult>& result) {
  Table table;
  for (const Series& series : std::get<Matrix>(result->value)) {
    for (size_t i = 0; i < series.samples.size(); ++i)
      table[series.labels.to_map()][to_millis(series.samples.t[i])] = bits(series.samples.v[i]);
  }
  return table;
}

std::string show(const Table& table) {
  std::string out;
  for (const auto& [labels, row] : table) {
    out += Labels::from_map(labels).to_string();
    for (const auto& [t, v] : row)
      out += " " + std::to_string(std::bit_cast<double>(v)) + "@" + std::to_string(t / 1000);
    out += "\n";
  }
  return out;
}

// Compares one query; returns whether it had an answer (and not an error on both sides).
bool agree(tsdb::MemoryStore& store, const NaiveEvaluator& naive, const std::string& text) {
  const Result<ExprPtr> expr = parse_expr(text, ParseOptions{});
  if (!expr.ok()) return false;
  constexpr int64_t kStart = 60'000, kStep = 30'000, kEnd = 480'000;
  const Result<QueryResult> planned =
      eval_range(*make_plan(*expr, text), store, from_millis(kStart), from_millis(kEnd),
                 Duration(kStep), EvalOptions{});
  Table expected;
  try {
    for (int64_t t = kStart; t <= kEnd; t += kStep) {
      for (const NaiveSample& value : naive.vector_at(**expr, t))
        expected[value.labels][t] = bits(value.v);
    }
  } catch (const NaiveEvaluator::Failed&) {
    EXPECT_FALSE(planned.ok()) << text;
    return false;
  }
  EXPECT_THAT(planned, test::IsOk()) << text;
  if (!planned.ok()) return false;
  const Table got = planned_table(planned);
  EXPECT_EQ(got, expected) << text << "\nplanned:\n" << show(got) << "naive:\n" << show(expected);
  return !expected.empty();
}

TEST(OperatorsProperty, GiveWhatTheNaiveEvaluatorGives) {
  // More seeds for a long run: VAGT_PROPERTY_SEEDS=5000.
  const char* asked = std::getenv("VAGT_PROPERTY_SEEDS");
  const uint32_t seeds = asked == nullptr ? 40 : static_cast<uint32_t>(std::atoi(asked));
  size_t answered = 0;
  for (uint32_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    Generator generator(seed);
    const std::vector<NaiveSeries> data = generator.data();
    tsdb::MemoryStore store;
    fill(store, data);
    const NaiveEvaluator naive(data, 300'000);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i)
      answered += agree(store, naive, generator.vector(static_cast<int>(1 + i % 3)));
  }
  EXPECT_GT(answered, seeds * size_t{20});
}

}  // namespace
}  // namespace vagt::query
