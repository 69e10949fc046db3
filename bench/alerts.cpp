// What 50,000 firing alerts of one rule cost: the state machine, and the list for those who are
// told.
//   bench_alerts
#include <benchmark/benchmark.h>

#include <string>

#include "rules/alert_tracker.h"

namespace vagt::rules {
namespace {

constexpr int kAlerts = 50'000;

std::vector<AlertCandidate> candidates() {
  std::vector<AlertCandidate> list;
  list.reserve(kAlerts);
  const auto annotations =
      std::make_shared<const Annotations>(Annotations{{"summary", "GPU is hot, look at the fans"}});
  for (int i = 0; i < kAlerts; ++i) {
    list.push_back({Labels::of({{"alertname", "GpuHot"},
                                {"gpu", std::to_string(i % 8)},
                                {"instance", "gpu-" + std::to_string(i / 8) + ":9500"},
                                {"job", "vagt"},
                                {"severity", "warning"}}),
                    annotations, 1});
  }
  return list;
}

Timestamp minute(int64_t m) { return Timestamp(std::chrono::minutes(m)); }

void BM_TakeDueFirst(benchmark::State& state) {
  const auto list = candidates();
  for (auto _ : state) {
    state.PauseTiming();
    AlertTracker tracker({});
    tracker.update(list, minute(1)).ignore("no clash");
    state.ResumeTiming();
    benchmark::DoNotOptimize(
        tracker.take_due(minute(1), std::chrono::minutes(1), std::chrono::minutes(1)));
  }
}
BENCHMARK(BM_TakeDueFirst)->Unit(benchmark::kMillisecond);

void BM_TakeDueAgain(benchmark::State& state) {
  const auto list = candidates();
  AlertTracker tracker({});
  int64_t m = 1;
  for (auto _ : state) {
    state.PauseTiming();
    tracker.update(list, minute(++m)).ignore("no clash");
    state.ResumeTiming();
    benchmark::DoNotOptimize(tracker.take_due(minute(m), Duration{}, std::chrono::minutes(1)));
  }
}
BENCHMARK(BM_TakeDueAgain)->Unit(benchmark::kMillisecond);

void BM_Update(benchmark::State& state) {
  const auto list = candidates();
  AlertTracker tracker({});
  int64_t m = 1;
  for (auto _ : state) {
    tracker.update(list, minute(++m)).ignore("no clash");
  }
}
BENCHMARK(BM_Update)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vagt::rules

BENCHMARK_MAIN();
