// The store's parts by Google Benchmark: append, commit, the codecs, index lookup, selection.
// bench/ingest.cpp has the whole of it, bench/codec.cpp the codecs on a dump of the load generator.
#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tsdb/codec.h"
#include "tsdb/head.h"
#include "tsdb/rocks_store.h"

namespace vagt::tsdb {
namespace {

constexpr int kTargets = 50, kPerTarget = 1948;
constexpr int64_t kBegin = 1'700'000'000'000, kStep = 15'000;

Labels series_labels(int target, int i) {
  const std::string host = "gpu-" + std::to_string(target), gpu = std::to_string(i % 8);
  return Labels::of({{"Hostname", host},
                     {"UUID", "GPU-" + std::to_string(target * 8 + i % 8)},
                     {"__name__", "DCGM_FI_DEV_METRIC_" + std::to_string(i / 8)},
                     {"device", "nvidia" + gpu},
                     {"gpu", gpu},
                     {"instance", host + ":9400"},
                     {"job", "dcgm"},
                     {"modelName", "NVIDIA H200"}});
}

// A family of the load generator by what its values are like.
enum Family : int64_t { Constant, State, Temperature, Counter, Energy, Ratio, Noise };
constexpr const char* kFamilies[] = {
    "constant",           "state, changes rarely", "temperature, integers", "counter of bytes",
    "energy, 3 decimals", "ratio, 6 digits",       "noise, all bits"};

RawColumns columns_of(int64_t family, size_t n) {
  std::mt19937_64 random(7);
  RawColumns out;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    double v = 0;
    switch (family) {
      case Constant:
        v = 81920;
        break;
      case State:
        v = double(i / 200 % 3);
        break;
      case Temperature:
        v = 60 + std::round(6 * std::sin(double(i) / 90)) + double(random() % 3);
        break;
      case Counter:
        v = sum += double(random() % 1'500'000);
        break;
      case Energy:
        v = std::round((sum += double(random() % 9'000'000) / 1000) * 1000) / 1000;
        break;
      case Ratio:
        v = std::round(double(random() % 1'000'000)) / 1e6;
        break;
      default:
        v = std::bit_cast<double>(random() >> 2);
    }
    out.push(kBegin + int64_t(i) * kStep, v);
  }
  return out;
}

void report(benchmark::State& state, size_t samples, size_t bytes) {
  state.SetLabel(kFamilies[state.range(0)]);
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(samples) * 16);
  state.SetItemsProcessed(int64_t(state.iterations()) * int64_t(samples));
  state.counters["B/sample"] = double(bytes) / double(samples);
}

// 180 samples are a chunk of the head, 5,760 a finished day.
void encode(benchmark::State& state) {
  const RawColumns columns = columns_of(state.range(0), size_t(state.range(1)));
  const Effort effort = state.range(1) > 1000 ? Effort::Small : Effort::Quick;
  std::string chunk;
  for (auto _ : state) {
    chunk.clear();
    encode_chunk(columns.t, columns.v, chunk, effort);
    benchmark::DoNotOptimize(chunk.data());
  }
  report(state, columns.size(), chunk.size());
}

void decode(benchmark::State& state) {
  const RawColumns columns = columns_of(state.range(0), size_t(state.range(1)));
  std::string chunk;
  encode_chunk(columns.t, columns.v, chunk, state.range(1) > 1000 ? Effort::Small : Effort::Quick);
  RawColumns out;
  for (auto _ : state) {
    out.clear();
    if (!decode_chunk(chunk, out)) state.SkipWithError("damaged");
    benchmark::DoNotOptimize(out.v.data());
  }
  report(state, columns.size(), chunk.size());
}

void codecs(benchmark::internal::Benchmark* b) {
  for (const int64_t samples : {180, 5760})
    for (int64_t family = Constant; family <= Noise; ++family) b->Args({family, samples});
}
BENCHMARK(encode)->Apply(codecs);
BENCHMARK(decode)->Apply(codecs);

class DataClock final : public Clock {
 public:
  Timestamp now() const override { return now_; }
  std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::now();
  }
  bool sleep_until(Timestamp, std::stop_token) override { return false; }
  void advance(Duration by) { now_ += by; }

 private:
  Timestamp now_ = from_millis(kBegin);
};

// 97,400 series of 50 targets, scraped in turn.
class Scrapes {
 public:
  Scrapes() {
    std::filesystem::remove_all(path_);
    RocksStoreOptions options;
    options.path = path_;
    options.clock = &clock_;
    options.background = false;
    options.retention.time = Duration(0);
    store_ = std::move(RocksStore::open(options)).value();
    for (int target = 0; target < kTargets; ++target) {
      auto appender = store_->appender();
      for (int i = 0; i < kPerTarget; ++i)
        refs_.push_back(*appender->series(series_labels(target, i)));
      for (int i = 0; i < kPerTarget; ++i)
        appender->append(refs_[size_t(target * kPerTarget + i)], {clock_.now(), 1});
      appender->commit().ignore("the benchmark would show it");
    }
  }
  ~Scrapes() {
    store_.reset();
    std::filesystem::remove_all(path_);
  }
  // Stages the next target's page.
  std::unique_ptr<Appender> page() {
    if (++target_ == kTargets) {
      target_ = 0;
      clock_.advance(Duration(kStep));
      store_->step(clock_.now()).ignore("the benchmark would show it");
    }
    if (target_ == 0 && round_++ == 0) clock_.advance(Duration(kStep));
    return store_->appender();
  }
  bool fill(Appender& appender) {
    bool good = true;
    for (int i = 0; i < kPerTarget; ++i)
      good &= appender.append(refs_[size_t(target_ * kPerTarget + i)],
                              {clock_.now(), double((round_ * i) % 977)}) == Code::Ok;
    return good;
  }

 private:
  const std::string path_ = (std::filesystem::temp_directory_path() / "vagt-bench-store").string();
  DataClock clock_;
  std::unique_ptr<RocksStore> store_;
  std::vector<SeriesRef> refs_;
  int target_ = kTargets - 1, round_ = 0;
};

void append(benchmark::State& state) {
  Scrapes scrapes;
  for (auto _ : state) {
    state.PauseTiming();
    auto appender = scrapes.page();
    state.ResumeTiming();
    if (!scrapes.fill(*appender)) state.SkipWithError("a sample was refused");
    state.PauseTiming();
    if (!appender->commit().ok()) state.SkipWithError("commit failed");
    appender.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(int64_t(state.iterations()) * kPerTarget);
}
BENCHMARK(append);

void commit(benchmark::State& state) {
  Scrapes scrapes;
  for (auto _ : state) {
    state.PauseTiming();
    auto appender = scrapes.page();
    if (!scrapes.fill(*appender)) state.SkipWithError("a sample was refused");
    state.ResumeTiming();
    if (!appender->commit().ok()) state.SkipWithError("commit failed");
    state.PauseTiming();
    appender.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(int64_t(state.iterations()) * kPerTarget);
}
BENCHMARK(commit);

const Head& filled_head() {
  static const std::unique_ptr<Head> head = [] {
    auto made = std::make_unique<Head>();
    SeriesId id = 0;
    for (int target = 0; target < kTargets; ++target)
      for (int i = 0; i < kPerTarget; ++i)
        made->name(made->reserve(++id), series_labels(target, i));
    return made;
  }();
  return *head;
}

void index_lookup(benchmark::State& state) {
  Head& head = const_cast<Head&>(filled_head());
  std::vector<Labels> asked;
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i)
    asked.push_back(series_labels(int(random() % kTargets), int(random() % kPerTarget)));
  for (auto _ : state)
    for (const Labels& labels : asked)
      if (head.find(labels, false).ref == SeriesRef::None) state.SkipWithError("not found");
  state.SetItemsProcessed(int64_t(state.iterations()) * 1000);
}
BENCHMARK(index_lookup);

void select(benchmark::State& state, std::vector<Matcher> matchers) {
  const Head& head = filled_head();
  size_t found = 0;
  for (auto _ : state) found = head.select(matchers).size();
  state.counters["series"] = double(found);
}
Matcher regex(std::string name, std::string pattern) {
  return std::move(Matcher::make(MatchOp::Regex, std::move(name), std::move(pattern))).value();
}
const std::string kName(kMetricName);
BENCHMARK_CAPTURE(select, metric_and_gpu,
                  {Matcher::equal(kName, "DCGM_FI_DEV_METRIC_7"), Matcher::equal("gpu", "3")});
BENCHMARK_CAPTURE(select, regex_of_literals, {regex(kName, "DCGM_FI_DEV_METRIC_(7|8|9)")});
BENCHMARK_CAPTURE(select, regex_with_prefix, {regex(kName, "DCGM_FI_DEV_METRIC_1.*")});
BENCHMARK_CAPTURE(select, regex_anywhere,
                  {regex("instance", ".*-4[0-9]:.*"),
                   Matcher::equal(kName, "DCGM_FI_DEV_METRIC_7")});

}  // namespace
}  // namespace vagt::tsdb

BENCHMARK_MAIN();
