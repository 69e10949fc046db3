// The store's share of a scrape: nanoseconds per sample for append and commit, memory per series,
// bytes per sample on disk, time to open after a crash.
//
//   bench_ingest [series] [rounds] [directory]
#include <malloc.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/log.h"
#include "tsdb/rocks_store.h"

namespace {

using namespace vagt;
using Seconds = std::chrono::duration<double>;

// Wall time as the data has it.
class DataClock final : public Clock {
 public:
  Timestamp now() const override { return now_; }
  std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::now();
  }
  bool sleep_until(Timestamp, std::stop_token) override { return false; }
  void set(Timestamp t) { now_ = t; }

 private:
  Timestamp now_ = from_millis(1'700'000'000'000);
};

constexpr int kSeriesPerTarget = 1948;

// About what an exporter page has: nine labels, most of them shared.
Labels series_labels(int target, int index) {
  const std::string gpu = std::to_string(index % 8);
  return Labels::of({{"Hostname", "gpu-" + std::to_string(target)},
                     {"UUID", "GPU-" + std::to_string(target * 8 + index % 8)},
                     {"__name__", "DCGM_FI_DEV_METRIC_" + std::to_string(index / 8)},
                     {"device", "nvidia" + gpu},
                     {"gpu", gpu},
                     {"instance", "gpu-" + std::to_string(target) + ":9400"},
                     {"job", "dcgm"},
                     {"modelName", "NVIDIA H200"}});
}

// 41 % constant, the rest gauges and counters with a few decimals.
double value_of(int index, int round, std::mt19937& random) {
  switch (index % 5) {
    case 0:
    case 1:
      return double(index % 50);
    case 2:
      return double(round) * 15 + double(random() % 4);
    case 3:
      return double(60 + random() % 8);
    default:
      return double(round * 1500 + int(random() % 100)) / 100;
  }
}

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

uint64_t folder_bytes(const std::string& path) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

std::unique_ptr<tsdb::RocksStore> open_store(const std::string& path, DataClock& clock) {
  tsdb::RocksStoreOptions options;
  options.path = path;
  options.clock = &clock;
  options.background = false;
  options.retention.time = Duration(0);
  auto store = tsdb::RocksStore::open(options);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message().c_str());
    std::exit(1);
  }
  return std::move(*store);
}

Seconds since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::steady_clock::now() - begin;
}

// CPU of this thread: other work on the machine does not count.
Seconds cpu_now() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return Seconds(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9);
}

Seconds process_cpu() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return Seconds(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  ::mallopt(M_ARENA_MAX, 2);  // as vagtd does
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  const int targets = (argc > 1 ? std::atoi(argv[1]) : 300'000) / kSeriesPerTarget + 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 60;
  const std::string path = argc > 3 ? argv[3] : "/tmp/vagt-bench-ingest";
  std::filesystem::remove_all(path);
  DataClock clock;
  auto begin = std::chrono::steady_clock::now();
  open_store(path, clock).reset();
  std::printf("open and close an empty store: %.0f ms\n", since(begin).count() * 1000);
  auto store = open_store(path, clock);
  const size_t resident_before = resident_bytes();

  std::vector<std::vector<tsdb::SeriesRef>> refs(static_cast<size_t>(targets));
  std::mt19937 random(1);
  std::vector<double> values(kSeriesPerTarget);
  Seconds creating{}, appending{}, committing{}, upkeep{};
  Seconds cpu{};
  for (int round = 0; round < rounds; ++round) {
    const Timestamp t = clock.now() + std::chrono::seconds(15);
    clock.set(t);
    for (int target = 0; target < targets; ++target) {
      auto& mine = refs[static_cast<size_t>(target)];
      for (int i = 0; i < kSeriesPerTarget; ++i)
        values[static_cast<size_t>(i)] = value_of(i, round, random);
      cpu = cpu_now();
      auto appender = store->appender();
      if (mine.empty())
        for (int i = 0; i < kSeriesPerTarget; ++i)
          mine.push_back(*appender->series(series_labels(target, i)));
      if (round == 0) creating += cpu_now() - cpu;
      cpu = cpu_now();
      for (int i = 0; i < kSeriesPerTarget; ++i)
        if (appender->append(mine[static_cast<size_t>(i)], {t, values[static_cast<size_t>(i)]}) !=
            Code::Ok)
          return 1;
      if (round > 0) appending += cpu_now() - cpu;
      cpu = cpu_now();
      if (!appender->commit().ok()) return 1;
      if (round > 0) committing += cpu_now() - cpu;
    }
    cpu = cpu_now();
    if (!store->step(t).ok()) return 1;
    upkeep += cpu_now() - cpu;
  }
  const double series = double(targets) * kSeriesPerTarget;
  const double samples = series * (rounds - 1);
  std::printf("series %.0f, rounds %d\n", series, rounds);
  std::printf("create: %.0f ns/series\n", creating.count() * 1e9 / series);
  std::printf("append: %.1f ns/sample, commit: %.1f ns/sample, upkeep: %.1f ns/sample\n",
              appending.count() * 1e9 / samples, committing.count() * 1e9 / samples,
              upkeep.count() * 1e9 / samples);
  const auto [head, count] = store->head_memory();
  const auto heap = ::mallinfo2();
  std::printf(
      "head: %.0f B/series by count, process grew %.0f B/series; heap: %.0f in use, %.0f free\n",
      double(head) / double(count), double(resident_bytes() - resident_before) / series,
      double(heap.uordblks + heap.hblkhd) / series, double(heap.fordblks) / series);

  begin = std::chrono::steady_clock::now();
  auto querier = store->querier(clock.now() - std::chrono::minutes(5), clock.now());
  const std::vector<Matcher> one = {Matcher::equal("__name__", "DCGM_FI_DEV_METRIC_7")};
  auto cursor = querier->select(one, {clock.now() - std::chrono::minutes(5), clock.now(), "rate"});
  size_t read = 0, found = 0;
  for (SampleColumns columns; cursor->next(); ++found, columns.clear())
    while (cursor->read(columns, 1000)) read += columns.size();
  std::printf("query of 5 min of %zu series, %zu samples: %.2f ms\n", found, read,
              since(begin).count() * 1000);
  cursor.reset();
  querier.reset();

  std::printf("folder before flush: %.2f B/sample\n", double(folder_bytes(path)) / samples);
  std::filesystem::remove_all(path + "-crash");
  std::filesystem::copy(path, path + "-crash");
  begin = std::chrono::steady_clock::now();
  const Seconds cpu_before = cpu_now();
  auto again = open_store(path + "-crash", clock);
  std::printf("open what a crash left: %.0f ms (%.0f ms CPU), %llu series\n",
              since(begin).count() * 1000, (cpu_now() - cpu_before).count() * 1000,
              static_cast<unsigned long long>(again->stats().head_series));
  again.reset();
  std::filesystem::remove_all(path + "-crash");
  begin = std::chrono::steady_clock::now();
  const Seconds process_before = process_cpu();
  if (!store->flush().ok()) return 1;
  std::printf("flush: %.1f s (%.1f s CPU); folder: %.3f B/sample\n", since(begin).count(),
              (process_cpu() - process_before).count(),
              double(folder_bytes(path)) / (samples + series));
  store.reset();
  std::filesystem::remove_all(path);
  return 0;
}
