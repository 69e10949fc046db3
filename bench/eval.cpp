// What evaluation costs: window functions, aggregations and joins over a store that costs next to
// nothing.
//   eval_bench --benchmark_filter=window
// Sizes are those of bench scenario `query`: a 15 s scrape, 6 h, 60 s steps.
#include <benchmark/benchmark.h>

#include <cmath>
#include <map>
#include <random>

#include "query/evaluator.h"
#include "query/parse.h"
#include "query/plan.h"
#include "tsdb/store.h"

namespace vagt::query {
namespace {

constexpr int64_t kEndMs = 1'700'000'000'000;
constexpr int64_t kScrapeMs = 15'000;
constexpr int64_t kHourMs = 3'600'000;

struct StoredSeries {
  Labels labels;
  SampleColumns samples;
};
using Metrics = std::map<std::string, std::vector<StoredSeries>, std::less<>>;

// Hands out slices of columns held in memory, found by metric name.
class ColumnCursor final : public tsdb::SeriesCursor {
 public:
  ColumnCursor(const std::vector<StoredSeries>* series, std::span<const Matcher> matchers,
               const tsdb::SelectHints& hints)
      : series_(series), matchers_(matchers.begin(), matchers.end()), hints_(hints) {}
  bool next() override {
    while (series_ != nullptr && at_ < series_->size()) {
      current_ = &(*series_)[at_++];
      if (!matches_all(matchers_, current_->labels)) continue;
      const auto& t = current_->samples.t;
      from_ = static_cast<size_t>(std::lower_bound(t.begin(), t.end(), hints_.start) - t.begin());
      to_ = static_cast<size_t>(std::upper_bound(t.begin(), t.end(), hints_.end) - t.begin());
      return true;
    }
    return false;
  }
  const Labels& labels() const override { return current_->labels; }
  bool read(SampleColumns& out, size_t max) override {
    const size_t n = std::min(max, to_ - from_);
    const auto first = static_cast<std::ptrdiff_t>(from_);
    const auto last = static_cast<std::ptrdiff_t>(from_ + n);
    const SampleColumns& all = current_->samples;
    out.t.insert(out.t.end(), all.t.begin() + first, all.t.begin() + last);
    out.v.insert(out.v.end(), all.v.begin() + first, all.v.begin() + last);
    from_ += n;
    return n > 0;
  }
  Status status() const override { return {}; }

 private:
  const std::vector<StoredSeries>* series_;
  const std::vector<Matcher> matchers_;
  const tsdb::SelectHints hints_;
  const StoredSeries* current_ = nullptr;
  size_t at_ = 0, from_ = 0, to_ = 0;
};

class ColumnStore final : public tsdb::Store, public tsdb::Querier {
 public:
  explicit ColumnStore(Metrics metrics) : metrics_(std::move(metrics)) {}

  std::unique_ptr<tsdb::Appender> appender() override { return nullptr; }
  std::unique_ptr<tsdb::Appender> import_appender() override { return nullptr; }
  std::unique_ptr<tsdb::Querier> querier(Timestamp, Timestamp) override {
    return std::make_unique<View>(*this);
  }
  std::vector<std::pair<std::string, tsdb::Metadata>> metadata(std::string_view) const override {
    return {};
  }
  tsdb::StoreStats stats() const override { return {}; }
  tsdb::CardinalityStats cardinality(size_t) const override { return {}; }

  std::unique_ptr<tsdb::SeriesCursor> select(std::span<const Matcher> matchers,
                                             const tsdb::SelectHints& hints) override {
    const std::vector<StoredSeries>* series = nullptr;
    for (const Matcher& m : matchers) {
      const auto found = metrics_.find(m.value());
      if (m.name() == kMetricName && found != metrics_.end()) series = &found->second;
    }
    return std::make_unique<ColumnCursor>(series, matchers, hints);
  }
  Result<std::vector<std::string>> label_values(std::string_view,
                                                std::span<const Matcher>) override {
    return std::vector<std::string>();
  }
  Result<std::vector<std::string>> label_names(std::span<const Matcher>) override {
    return std::vector<std::string>();
  }

 private:
  class View final : public tsdb::Querier {
   public:
    explicit View(ColumnStore& store) : store_(store) {}
    std::unique_ptr<tsdb::SeriesCursor> select(std::span<const Matcher> matchers,
                                               const tsdb::SelectHints& hints) override {
      return store_.select(matchers, hints);
    }
    Result<std::vector<std::string>> label_values(std::string_view name,
                                                  std::span<const Matcher> m) override {
      return store_.label_values(name, m);
    }
    Result<std::vector<std::string>> label_names(std::span<const Matcher> m) override {
      return store_.label_names(m);
    }

   private:
    ColumnStore& store_;
  };
  const Metrics metrics_;
};

ColumnStore& store() {
  static ColumnStore made([] {
    Metrics metrics;
    std::mt19937 random(1);
    const auto add = [&](const std::string& name, int hosts, int parts, const char* part_label,
                         const char* prefix, auto next) {
      std::vector<StoredSeries>& all = metrics[name];
      for (int host = 0; host < hosts; ++host) {
        for (int part = 0; part < parts; ++part) {
          char instance[32], what[32];
          std::snprintf(instance, sizeof instance, "gpu-%04d:9100", host);
          std::snprintf(what, sizeof what, "%s%d", prefix, part);
          StoredSeries series;
          series.labels = Labels::of({{"__name__", name},
                                      {"instance", instance},
                                      {"job", "node"},
                                      {part_label, what},
                                      {"rack", host % 2 != 0 ? "a" : "b"}});
          double v = 0;
          for (int64_t t = kEndMs - 7 * kHourMs; t <= kEndMs; t += kScrapeMs) {
            v = next(v);
            series.samples.push(from_millis(t + (host * 137 + part) % 1000), v);
          }
          all.push_back(std::move(series));
        }
      }
      std::sort(all.begin(), all.end(),
                [](const StoredSeries& a, const StoredSeries& b) { return a.labels < b.labels; });
    };
    const auto draw = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    add("cpu_total", 48, 32, "cpu", "c", [&](double v) { return v + draw(0, 15); });
    add("bytes_total", 48, 4, "device", "eth",
        [&](double v) { return v + std::floor(draw(0, 1e6)); });
    add("power", 48, 8, "gpu", "g", [&](double) { return draw(60, 700); });
    add("temp", 48, 8, "gpu", "g", [&](double) { return std::floor(draw(30, 90)); });
    add("host_info", 48, 1, "model", "m", [&](double) { return 1.0; });
    const auto bounds = {"0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"};
    for (const char* le : bounds) {
      add(std::string("latency_") + le, 16, 1, "x", "x", [&](double v) { return v + draw(0, 5); });
    }
    std::vector<StoredSeries>& buckets = metrics["latency_bucket"];
    for (const char* le : bounds) {
      for (StoredSeries& series : metrics[std::string("latency_") + le]) {
        series.labels =
            LabelsBuilder(series.labels).set("__name__", "latency_bucket").set("le", le).build();
        buckets.push_back(std::move(series));
      }
    }
    return metrics;
  }());
  return made;
}

void run(benchmark::State& state, const char* text, bool range) {
  Result<ExprPtr> expr = parse_expr(text, ParseOptions{});
  if (!expr.ok()) {
    state.SkipWithError(expr.error().message().c_str());
    return;
  }
  const PlanPtr plan = make_plan(*expr, text);
  EvalStats stats;
  for (auto _ : state) {
    Result<QueryResult> result =
        range ? eval_range(*plan, store(), from_millis(kEndMs - 6 * kHourMs), from_millis(kEndMs),
                           Duration(60'000), EvalOptions{}, {}, &stats)
              : eval_instant(*plan, store(), from_millis(kEndMs), EvalOptions{}, {}, &stats);
    if (!result.ok()) {
      state.SkipWithError(result.error().message().c_str());
      return;
    }
    benchmark::DoNotOptimize(result);
  }
  state.counters["series"] = static_cast<double>(stats.series_read);
  state.counters["samples"] = static_cast<double>(stats.samples_read);
  state.counters["peak"] = static_cast<double>(stats.peak_samples);
}

// Text to tree, to plan, and back to text.
constexpr const char* kShort = "rate(http_requests_total{job=\"a\"}[5m])";
constexpr const char* kLong =
    "histogram_quantile(0.99, sum by (le, job) (rate(http_duration_seconds_bucket{job=~\"api.*\","
    "code!~\"5..\"}[5m] offset 1h))) > 1.5 * on (job) group_left (team) "
    "label_replace(avg_over_time(limits{kind=\"p99\"}[1d:5m]), \"x\", \"$1\", \"y\", \"(.*)\") "
    "unless on (job) (up{job=~\"api.*\"} == 0)";

void parse(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_expr(text, ParseOptions{}));
}
void parse_nested(benchmark::State& state) {
  const std::string text = std::string(200, '(') + "x" + std::string(200, ')');
  for (auto _ : state) benchmark::DoNotOptimize(parse_expr(text, ParseOptions{}));
}
void plan(benchmark::State& state) {
  const Result<ExprPtr> expr = parse_expr(kLong, ParseOptions{});
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(*expr, kLong));
}
void print(benchmark::State& state) {
  const Result<ExprPtr> expr = parse_expr(kLong, ParseOptions{});
  for (auto _ : state) benchmark::DoNotOptimize(print_expr(**expr));
}
BENCHMARK_CAPTURE(parse, short, kShort);
BENCHMARK_CAPTURE(parse, long, kLong);
BENCHMARK(parse_nested);
BENCHMARK(plan);
BENCHMARK(print);

#define VAGT_RANGE(name, text) \
  BENCHMARK_CAPTURE(run, name, text, true)->Unit(benchmark::kMillisecond)
#define VAGT_INSTANT(name, text) \
  BENCHMARK_CAPTURE(run, name, text, false)->Unit(benchmark::kMillisecond)

VAGT_RANGE(select, "power");
VAGT_RANGE(window_rate, "rate(cpu_total[5m])");
VAGT_RANGE(window_increase, "increase(bytes_total[5m])");
VAGT_RANGE(window_irate, "irate(cpu_total[5m])");
VAGT_RANGE(window_sum_whole, "sum_over_time(temp[1h])");
VAGT_RANGE(window_sum, "sum_over_time(power[1h])");
VAGT_RANGE(window_avg_whole, "avg_over_time(temp[1h])");
VAGT_RANGE(window_avg, "avg_over_time(power[1h])");
VAGT_RANGE(window_max, "max_over_time(power[1h])");
VAGT_RANGE(window_stddev, "stddev_over_time(power[1h])");
VAGT_RANGE(window_quantile, "quantile_over_time(0.99, power[1h])");
VAGT_RANGE(window_deriv, "deriv(power[1h])");
VAGT_RANGE(window_changes, "changes(temp[1h])");
VAGT_RANGE(window_resets, "resets(cpu_total[1h])");
VAGT_RANGE(window_delta, "delta(temp[5m])");
VAGT_RANGE(window_idelta, "idelta(temp[5m])");
VAGT_RANGE(window_count, "count_over_time(power[1h])");
VAGT_RANGE(window_last, "last_over_time(power[1h])");
VAGT_RANGE(window_first, "first_over_time(power[1h])");
VAGT_RANGE(window_present, "present_over_time(power[1h])");
VAGT_RANGE(window_absent, "absent_over_time(power[1h])");
VAGT_RANGE(window_min, "min_over_time(power[1h])");
VAGT_RANGE(window_stdvar, "stdvar_over_time(power[1h])");
VAGT_RANGE(window_predict_linear, "predict_linear(power[1h], 3600)");
VAGT_RANGE(aggregate_sum_rate, "sum by (instance) (rate(cpu_total[5m]))");
VAGT_RANGE(aggregate_sum, "sum(power)");
VAGT_RANGE(aggregate_avg, "avg by (gpu) (power)");
VAGT_RANGE(aggregate_without, "max without (gpu) (power)");
VAGT_RANGE(aggregate_stddev, "stddev(power)");
VAGT_RANGE(aggregate_stdvar, "stdvar(power)");
VAGT_RANGE(aggregate_min, "min(power)");
VAGT_RANGE(aggregate_count, "count(power)");
VAGT_RANGE(aggregate_group, "group(power)");
VAGT_RANGE(aggregate_bottomk, "bottomk(5, power)");
VAGT_RANGE(aggregate_quantile, "quantile(0.9, power)");
VAGT_RANGE(aggregate_topk, "topk(5, power)");
VAGT_RANGE(aggregate_count_values, "count_values(\"t\", temp)");
VAGT_RANGE(join_one_to_one, "power / on(instance, gpu) temp");
VAGT_RANGE(join_group_left, "power * on(instance) group_left(model) host_info");
VAGT_RANGE(join_group_right, "host_info * on(instance) group_right(model) power");
VAGT_RANGE(join_or, "power > 650 or temp");
VAGT_RANGE(join_unless, "power unless on(instance, gpu) temp > 60");
VAGT_RANGE(join_and, "power < 300 and temp > 60");
VAGT_RANGE(histogram_quantile, "histogram_quantile(0.95, sum by (le) (rate(latency_bucket[5m])))");
VAGT_RANGE(histogram_quantile_each, "histogram_quantile(0.95, rate(latency_bucket[5m]))");
VAGT_RANGE(subquery, "max_over_time(rate(bytes_total[5m])[1h:1m])");
VAGT_INSTANT(instant_select, "cpu_total");
VAGT_INSTANT(instant_rate, "rate(cpu_total[5m])");
VAGT_INSTANT(instant_sum_rate, "sum by (instance) (rate(cpu_total[5m]))");
VAGT_INSTANT(instant_topk, "topk(5, power)");
VAGT_INSTANT(instant_join, "power / on(instance, gpu) temp");
VAGT_INSTANT(instant_label_replace, "label_replace(power, \"nr\", \"$1\", \"gpu\", \"g(.*)\")");
VAGT_INSTANT(instant_alert, "temp > 95");

}  // namespace
}  // namespace vagt::query

BENCHMARK_MAIN();
