// Generated queries over generated data: the operators give what the naive evaluator gives, to the
// bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "query/evaluator.h"
#include "query/parse.h"
#include "tests/query/naive_evaluator.h"
#include "tests/query/property_seeds.h"
#include "tests/query/query_generator.h"
#include "tests/support/status_matchers.h"
#include "tsdb/memory_store.h"

namespace vagt::query {
namespace {

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
using Table = std::map<LabelMap, std::map<int64_t, uint64_t>>;
uint64_t bits(double v) { return std::bit_cast<uint64_t>(std::isnan(v) ? std::nan("") : v); }

Table table_of(const Value& value) {
  Table table;
  if (const auto* vector = std::get_if<Vector>(&value)) {
    for (const VectorSample& s : *vector) table[s.labels.to_map()][to_millis(s.t)] = bits(s.v);
    return table;
  }
  for (const Series& series : std::get<Matrix>(value)) {
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

// sort() and sort_desc() at the root: NaN last, the rest by value.
void expect_sorted(const Vector& vector, const std::string& text) {
  const bool down = text.rfind("sort_desc(", 0) == 0;
  if (!down && text.rfind("sort(", 0) != 0) return;
  for (size_t i = 1; i < vector.size(); ++i) {
    const double a = vector[i - 1].v, b = vector[i].v;
    EXPECT_TRUE(std::isnan(b) || (down ? a >= b : a <= b)) << text << " at " << i;
  }
}

// When a query is asked: over how many steps, how far apart, and looking how far back.
struct Asked {
  int64_t start = 60'000, step = 30'000, count = 15, lookback = 300'000;
  bool instant = false;
  int64_t end() const { return start + step * (count - 1); }
};

class Comparison {
 public:
  Comparison(const std::vector<NaiveSeries>& data, const Asked& asked)
      : asked_(asked), naive_(data, asked.lookback) {
    fill(store_, data);
    naive_.set_range(asked.start, asked.end());
  }

  // Whether the query had an answer: not an error on both sides, nothing left open.
  bool agree(const std::string& text) {
    ParseOptions parse;
    parse.experimental_functions = parse.binop_fill_modifiers = true;
    const Result<ExprPtr> expr = parse_expr(text, parse);
    EXPECT_THAT(expr, test::IsOk()) << text;
    if (!expr.ok()) return false;
    const Result<QueryResult> planned = ask(*expr, text);
    Table expected;
    try {
      for (int64_t i = 0, t = asked_.start; i < asked_.count; ++i, t += asked_.step) {
        for (const NaiveSample& value : naive_.vector_at(**expr, t))
          expected[value.labels][t] = bits(value.v);
      }
    } catch (const NaiveEvaluator::Failed&) {
      EXPECT_FALSE(planned.ok()) << text;
      return false;
    } catch (const NaiveEvaluator::Unsure&) {
      return false;
    }
    EXPECT_THAT(planned, test::IsOk()) << text;
    if (!planned.ok()) return false;
    const Table got = table_of(planned->value);
    EXPECT_EQ(got, expected) << text << "\nplanned:\n" << show(got) << "naive:\n" << show(expected);
    if (asked_.instant) expect_sorted(std::get<Vector>(planned->value), text);
    return !expected.empty();
  }

 private:
  Result<QueryResult> ask(const ExprPtr& expr, const std::string& text) {
    EvalOptions options;
    options.lookback = Duration(asked_.lookback);
    const PlanPtr plan = make_plan(expr, text);
    const Timestamp start = from_millis(asked_.start);
    if (asked_.instant) return eval_instant(*plan, store_, start, options);
    return eval_range(*plan, store_, start, from_millis(asked_.end()), Duration(asked_.step),
                      options);
  }

  const Asked asked_;
  tsdb::MemoryStore store_;
  NaiveEvaluator naive_;
};

size_t compare_many(const Asked& asked, uint32_t first_seed, uint32_t seeds) {
  size_t answered = 0;
  for (uint32_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    QueryGenerator generator(seed);
    Comparison comparison(generator.data(), asked);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i)
      answered += comparison.agree(generator.vector(1 + i % 4));
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return answered;
    }
  }
  return answered;
}

TEST(OperatorsProperty, RangeQueriesGiveWhatTheNaiveEvaluatorGives) {
  const uint32_t seeds = property_seeds(40);
  EXPECT_GT(compare_many({}, 1, seeds), seeds * size_t{20});
}

// Windows that overlap a lot, and steps that fall between the samples.
TEST(OperatorsProperty, SmallStepsAndAShortLookback) {
  const uint32_t seeds = property_seeds(15);
  EXPECT_GT(compare_many({101'500, 7'000, 40, 40'000, false}, 10'000'001, seeds),
            seeds * size_t{15});
}

TEST(OperatorsProperty, StepsWiderThanTheWindows) {
  const uint32_t seeds = property_seeds(15);
  EXPECT_GT(compare_many({1'000, 190'000, 5, 20'000, false}, 20'000'001, seeds),
            seeds * size_t{10});
}

TEST(OperatorsProperty, InstantQueries) {
  const uint32_t seeds = property_seeds(40);
  EXPECT_GT(compare_many({345'000, 0, 1, 300'000, true}, 30'000'001, seeds), seeds * size_t{15});
}

}  // namespace
}  // namespace vagt::query
