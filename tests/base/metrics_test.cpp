#include "base/metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

namespace vagt::base {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Registry, RendersFamiliesInNameOrderWithHelpOnce) {
  Registry registry;
  registry.gauge("b", "Back\\slash\nline").set(1.5);
  registry.counter("a_total", "A.", Labels::of({{"x", "2"}})).add(2);
  registry.counter("a_total", "A.", Labels::of({{"x", "q\"\\\n"}})).add();
  EXPECT_EQ(registry.render(),
            "# HELP a_total A.\n# TYPE a_total counter\n"
            "a_total{x=\"2\"} 2\na_total{x=\"q\\\"\\\\\\n\"} 1\n"
            "# HELP b Back\\\\slash\\nline\n# TYPE b gauge\nb 1.5\n");
}

TEST(Registry, TheSameNameIsTheSameHandle) {
  Registry registry;
  Counter& first = registry.counter("a_total", "A.");
  EXPECT_EQ(&first, &registry.counter("a_total", "A."));
  EXPECT_NE(&first, &registry.counter("a_total", "A.", Labels::of({{"x", "1"}})));
}

TEST(Registry, HistogramIsCumulativeAndBoundsAreInclusive) {
  Registry registry;
  Histogram& h = registry.histogram("h", "H.", {0.1, 1}, Labels::of({{"x", "y"}}));
  for (const double v : {0.05, 0.1, 0.5, 7.0}) h.observe(v);
  EXPECT_THAT(registry.render(), HasSubstr("h_bucket{x=\"y\",le=\"0.1\"} 2\n"
                                           "h_bucket{x=\"y\",le=\"1\"} 3\n"
                                           "h_bucket{x=\"y\",le=\"+Inf\"} 4\n"
                                           "h_sum{x=\"y\"} 7.65\n"
                                           "h_count{x=\"y\"} 4\n"));
}

TEST(Registry, ANanIsInNoFiniteBucket) {
  Registry registry;
  registry.histogram("h", "H.", {1}).observe(std::nan(""));
  EXPECT_THAT(registry.render(), HasSubstr("h_bucket{le=\"1\"} 0\nh_bucket{le=\"+Inf\"} 1\n"));
}

TEST(Registry, CallbackSpeaksUntilItsTokenIsGone) {
  Registry registry;
  auto token = registry.callback(Registry::Kind::Gauge, "c", "C.", [](const auto& emit) {
    emit(Labels::of({{"x", "1"}}), 4);
  });
  EXPECT_THAT(registry.render(), HasSubstr("c{x=\"1\"} 4\n"));
  token.reset();
  EXPECT_THAT(registry.render(), Not(HasSubstr("c{")));
}

TEST(Registry, ACallbackMayRegister) {
  Registry registry;
  registry.keep(registry.callback(Registry::Kind::Counter, "c_total", "C.", [&](const auto& emit) {
    registry.counter("late_total", "L.").add();
    emit(Labels(), 1);
  }));
  EXPECT_THAT(registry.render(), HasSubstr("c_total 1\n"));
  EXPECT_THAT(registry.render(), HasSubstr("late_total 1\n"));
}

TEST(Registry, ATokenMayOutliveTheRegistry) {
  std::shared_ptr<void> token;
  {
    Registry registry;
    token = registry.callback(Registry::Kind::Gauge, "c", "C.", [](const auto&) {});
  }
  token.reset();
}

TEST(Counter, ThreadsLoseNothing) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&counter] {
        for (int n = 0; n < 1000; ++n) counter.add();
      });
  }
  EXPECT_EQ(counter.value(), 4000);
}

TEST(ProcessMetrics, AreThisProcess) {
  Registry registry;
  register_process_metrics(registry, 1234.5);
  const std::string page = registry.render();
  EXPECT_THAT(page, HasSubstr("process_start_time_seconds 1234.5\n"));
  EXPECT_THAT(page, Not(HasSubstr("process_resident_memory_bytes 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("process_open_fds 0\n")));
  EXPECT_THAT(page, HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
}

}  // namespace
}  // namespace vagt::base
