// How long a start takes on what kill -9 left in a directory: wall and CPU time, by part.
//
//   bench_reopen DIRECTORY [times]     opens copies of it, and leaves it as it is
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tsdb/rocks_store.h"

namespace {

using namespace vagt;
using Seconds = std::chrono::duration<double>;

class WallClock final : public Clock {
 public:
  Timestamp now() const override {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
  }
  std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::now();
  }
  bool sleep_until(Timestamp, std::stop_token) override { return false; }
};

double cpu_ms(clockid_t which) {
  timespec t{};
  ::clock_gettime(which, &t);
  return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_reopen DIRECTORY [times]\n");
    return 2;
  }
  ::mallopt(M_ARENA_MAX, 2);  // as vagtd does
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  const std::string copy = std::string(argv[1]) + "-copy";
  const int times = argc > 2 ? std::atoi(argv[2]) : 5;
  WallClock clock;
  double best_wall = 1e9, best_cpu = 1e9;
  for (int i = 0; i < times; ++i) {
    std::filesystem::remove_all(copy);
    std::filesystem::copy(argv[1], copy, std::filesystem::copy_options::recursive);
    tsdb::RocksStoreOptions options;
    options.path = copy;
    options.clock = &clock;
    options.background = false;
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_ms(CLOCK_PROCESS_CPUTIME_ID), own = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    auto store = tsdb::RocksStore::open(options);
    if (!store) {
      std::fprintf(stderr, "%s\n", store.error().message().c_str());
      return 1;
    }
    const double wall = Seconds(std::chrono::steady_clock::now() - begin).count() * 1000;
    const double used = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    std::printf("opened in %.0f ms, CPU %.0f ms (of the opening thread %.0f ms), %zu series\n",
                wall, used, cpu_ms(CLOCK_THREAD_CPUTIME_ID) - own,
                static_cast<size_t>((*store)->stats().head_series));
    best_wall = std::min(best_wall, wall);
    best_cpu = std::min(best_cpu, used);
  }
  std::printf("best: %.0f ms, CPU %.0f ms\n", best_wall, best_cpu);
  std::filesystem::remove_all(copy);
  return 0;
}
