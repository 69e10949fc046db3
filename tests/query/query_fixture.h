// A store with a few series and one line per question.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "query/evaluator.h"
#include "query/parse.h"
#include "query/plan.h"
#include "tests/support/status_matchers.h"
#include "tsdb/memory_store.h"

namespace vagt::query {

constexpr double kGap = -987654321;  // no sample here

class QueryTest : public ::testing::Test {
 protected:
  QueryTest() {
    parse_.experimental_functions = true;
    parse_.extended_range_selectors = true;
    parse_.binop_fill_modifiers = true;
  }

  // Samples every `step` seconds from 0 on.
  void add(const std::string& series, const std::vector<double>& values, int64_t step = 10) {
    const Result<std::vector<Matcher>> matchers = parse_metric_selector(series);
    ASSERT_THAT(matchers, test::IsOk());
    Labels::Pairs pairs;
    for (const Matcher& m : *matchers) pairs.emplace_back(m.name(), m.value());
    const auto appender = store_.appender();
    const Result<tsdb::SeriesRef> ref = appender->series(Labels::make(pairs).value());
    ASSERT_THAT(ref, test::IsOk());
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == kGap) continue;
      ASSERT_EQ(
          appender->append(*ref, {from_millis(static_cast<int64_t>(i) * step * 1000), values[i]}),
          Code::Ok);
    }
    ASSERT_THAT(appender->commit(), test::IsOk());
  }

  PlanPtr plan(const std::string& text) const {
    Result<ExprPtr> expr = parse_expr(text, parse_);
    EXPECT_THAT(expr, test::IsOk()) << text;
    return expr.ok() ? make_plan(*expr, text) : nullptr;
  }
  Result<QueryResult> ask(const std::string& text, double at) {
    const PlanPtr made = plan(text);
    if (!made) return Status::invalid("does not parse");
    return eval_instant(*made, store_, seconds(at), options_, {}, &stats_);
  }
  Result<QueryResult> ask_range(const std::string& text, double start, double end, double step) {
    const PlanPtr made = plan(text);
    if (!made) return Status::invalid("does not parse");
    return eval_range(*made, store_, seconds(start), seconds(end),
                      Duration(std::llround(step * 1000)), options_, {}, &stats_);
  }

  // "{a="b"} 1; {a="c"} 2" in answer order, or the error's message.
  std::string at(double time, const std::string& text) { return print(ask(text, time)); }
  // "{a="b"} 1@0 2@10; …" with seconds.
  std::string over(double start, double end, double step, const std::string& text) {
    return print(ask_range(text, start, end, step));
  }

  static std::string print(const Result<QueryResult>& result) {
    if (!result.ok()) return "error: " + result.error().message();
    std::string out;
    if (const auto* vector = std::get_if<Vector>(&result->value)) {
      for (const VectorSample& s : *vector)
        out += (out.empty() ? "" : "; ") + s.labels.to_string() + " " + format_float(s.v);
    } else if (const auto* matrix = std::get_if<Matrix>(&result->value)) {
      for (const Series& s : *matrix) {
        out += (out.empty() ? "" : "; ") + s.labels.to_string();
        for (size_t i = 0; i < s.samples.size(); ++i)
          out +=
              " " + format_float(s.samples.v[i]) + "@" + format_float(to_seconds(s.samples.t[i]));
      }
    } else if (const auto* scalar = std::get_if<ScalarValue>(&result->value)) {
      out = format_float(scalar->v);
    } else {
      out = quote(std::get<StringValue>(result->value).text);
    }
    return out;
  }

  static Timestamp seconds(double s) { return from_millis(std::llround(s * 1000)); }

  ParseOptions parse_;
  EvalOptions options_;
  EvalStats stats_;
  tsdb::MemoryStore store_;
};

}  // namespace vagt::query
