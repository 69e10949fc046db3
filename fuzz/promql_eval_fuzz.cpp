// Any bytes as a query over a small store, under tight limits: a result without two series of the
// same labels, or an error with words. Never a crash, never without end.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "query/evaluator.h"
#include "query/parse.h"
#include "tsdb/memory_store.h"

namespace {

using namespace vagt;

constexpr int64_t kStepMs = 15'000;
constexpr size_t kSteps = 41;

void require(bool holds, std::string_view what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(text.size()), text.data());
  std::abort();
}

// Counters, gauges, a histogram, gaps, stale markers, infinities and NaN.
std::unique_ptr<tsdb::MemoryStore> make_store() {
  auto store = std::make_unique<tsdb::MemoryStore>();
  const auto appender = store->appender();
  const auto add = [&](Labels::Pairs labels, auto value) {
    const auto ref = appender->series(Labels::make(std::move(labels)).value());
    for (size_t i = 0; ref.ok() && i < kSteps; ++i) {
      if (i % 17 == 13) continue;
      appender->append(*ref, {from_millis(static_cast<int64_t>(i) * kStepMs), value(i)});
    }
  };
  for (const char* job : {"a", "b"}) {
    for (const char* k : {"1", "2", "3"}) {
      const double scale = job[0] == 'a' ? 1 : 1e15;
      add({{"__name__", "x_total"}, {"job", job}, {"k", k}},
          [&](size_t i) { return static_cast<double>(i % 23) * scale; });
      add({{"__name__", "y"}, {"job", job}, {"k", k}}, [&](size_t i) {
        if (i % 11 == 5) return stale_marker();
        if (i % 13 == 7) return normal_nan();
        return i % 7 == 3 ? -HUGE_VAL : static_cast<double>(i) * -0.25;
      });
    }
    for (const char* le : {"0.5", "1", "+Inf"})
      add({{"__name__", "h_bucket"}, {"job", job}, {"le", le}},
          [&](size_t i) { return static_cast<double>(i * (le[0] == '+' ? 3 : 2)); });
    add({{"__name__", "target_info"}, {"job", job}, {"v", job}}, [](size_t) { return 1.0; });
  }
  appender->commit().ignore("cannot fail in memory");
  return store;
}

void check(const Result<query::QueryResult>& result, std::string_view text) {
  if (!result.ok()) {
    require(!result.error().message().empty(), "error without words", text);
    return;
  }
  std::set<std::string> seen;
  const auto once = [&](const Labels& labels) {
    require(seen.insert(labels.to_string()).second, "two series with the same labels", text);
  };
  if (const auto* vector = std::get_if<query::Vector>(&result->value)) {
    for (const auto& sample : *vector) once(sample.labels);
  } else if (const auto* matrix = std::get_if<query::Matrix>(&result->value)) {
    for (const auto& series : *matrix) {
      once(series.labels);
      require(series.samples.size() > 0, "a series without samples", text);
      for (size_t i = 1; i < series.samples.size(); ++i)
        require(series.samples.t[i - 1] < series.samples.t[i], "times out of order", text);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<tsdb::MemoryStore> store = make_store();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  query::ParseOptions parse;
  parse.experimental_functions = parse.extended_range_selectors = parse.binop_fill_modifiers = true;
  const auto expr = query::parse_expr(text, parse);
  if (!expr) return 0;
  const query::PlanPtr plan = query::make_plan(*expr, std::string(text));
  query::EvalOptions options;
  options.max_samples = 50'000;
  options.timeout = std::chrono::seconds(2);
  options.delayed_name_removal = size % 2 == 1;
  const Timestamp end = from_millis(static_cast<int64_t>(kSteps - 1) * kStepMs);
  check(query::eval_instant(*plan, *store, end, options), text);
  check(query::eval_range(*plan, *store, from_millis(60'000), end, Duration(30'000), options),
        text);
  return 0;
}
