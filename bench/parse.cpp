// How fast a page goes through the series cache: cold (labels are built) and warm (the same page
// again).
//
//   parse [PAGE-FILE]…      without a file: a page made up in the likeness of node_exporter's
//
// Prints for each page: bytes, samples, and GB/s and ns per sample of a cold, a warm and a
// changed-values scrape.
#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "scrape/series_cache.h"

namespace {

using namespace vagt;
using Seconds = std::chrono::duration<double>;

// Costs what an interface call costs and no more, so that parsing is what is measured.
class CountingAppender final : public tsdb::Appender {
 public:
  Result<tsdb::SeriesRef> series(const Labels&) override {
    return static_cast<tsdb::SeriesRef>(++series_);
  }
  Code append(tsdb::SeriesRef, Sample sample) override {
    ++samples_;
    sum_ += sample.v;
    return Code::Ok;
  }
  void metadata(std::string_view, const tsdb::Metadata&) override {}
  Status commit() override { return {}; }
  uint64_t samples() const { return samples_; }

 private:
  uint64_t series_ = 0, samples_ = 0;
  double sum_ = 0;
};

std::string made_up_page(int round) {
  std::string page;
  for (int cpu = 0; cpu < 128; ++cpu) {
    if (cpu == 0) {
      page +=
          "# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.\n# TYPE "
          "node_cpu_seconds_total counter\n";
    }
    for (const char* mode :
         {"idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user"}) {
      page += fmt::format("node_cpu_seconds_total{{cpu=\"{}\",mode=\"{}\"}} {}\n", cpu, mode,
                          17000.25 + cpu * 31 + round * 15);
    }
  }
  for (int metric = 0; metric < 60; ++metric) {
    page += fmt::format(
        "# HELP node_disk_thing_{0}_total Things of kind {0}.\n# TYPE node_disk_thing_{0}_total "
        "counter\n",
        metric);
    for (int disk = 0; disk < 10; ++disk) {
      page += fmt::format("node_disk_thing_{}_total{{device=\"nvme{}n1\"}} {:e}\n", metric, disk,
                          1.234567e9 + round * 1000.0 * metric);
    }
  }
  return page;
}

double seconds_per_run(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto until = Clock::now() + std::chrono::milliseconds(600);
  do {
    const auto start = Clock::now();
    run();
    best = std::min(best, Seconds(Clock::now() - start).count());
  } while (Clock::now() < until);
  return best;
}

bool scrape(scrape::SeriesCache& cache, std::string_view body, CountingAppender& appender) {
  static const scrape::SampleRules rules;
  scrape::PageCounts counts;
  auto staged = cache.ingest(body, exposition::Format::Text, from_millis(0),
                             Labels::of({{"job", "j"}}), rules, appender, counts);
  if (!staged) {
    fmt::print("{}\n", staged.error().message());
    return false;
  }
  cache.accept(std::move(*staged));
  return true;
}

void print_speed(std::string_view what, std::string_view body, uint64_t samples, double seconds) {
  fmt::print("  {:<14} {:7.2f} GB/s {:8.1f} ns/sample\n", what,
             static_cast<double>(body.size()) / seconds / 1e9,
             seconds / static_cast<double>(samples) * 1e9);
}

bool measure(std::string_view name, const std::string& body, const std::string& next) {
  CountingAppender appender;
  scrape::SeriesCache first(1);
  if (!scrape(first, body, appender)) return false;
  const uint64_t samples = appender.samples();
  fmt::print("{}: {} bytes, {} samples\n", name, body.size(), samples);
  print_speed("cold", body, samples, seconds_per_run([&] {
                scrape::SeriesCache cache(1);
                scrape(cache, body, appender);
              }));
  print_speed("warm", body, samples, seconds_per_run([&] { scrape(first, body, appender); }));
  print_speed("other values", next, samples,
              seconds_per_run([&] { scrape(first, next, appender); }));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string body(std::istreambuf_iterator<char>(file), {});
    ok = measure(argv[i], body, body) && ok;
  }
  if (argc == 1) ok = measure("made up", made_up_page(0), made_up_page(1));
  return ok ? 0 : 1;
}
