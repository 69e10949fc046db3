#include "node-agent/collector_runner.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;

// Does what the test says, when the test says so.
class Scripted final : public Collector {
 public:
  struct Script {
    std::mutex mutex;
    std::condition_variable changed;
    bool hold = false;  // collect() waits while it is set
    int runs = 0;
    Status status;
    double value = 1;
    size_t samples = 1;

    void set_hold(bool on) {
      std::lock_guard lock(mutex);
      hold = on;
      changed.notify_all();
    }
    void wait_for_runs(int n) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return runs >= n; });
    }
  };
  explicit Scripted(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  Status collect(MetricSink& sink, std::stop_token) override {
    std::unique_lock lock(script_->mutex);
    ++script_->runs;
    script_->changed.notify_all();
    script_->changed.wait(lock, [this] { return !script_->hold; });
    for (size_t i = 0; i < script_->samples; ++i)
      sink.gauge("x", "X.").add({{"i", std::to_string(i)}}, script_->value);
    return script_->status;
  }

 private:
  const std::shared_ptr<Script> script_;
};

struct Fixture {
  explicit Fixture(Duration cadence, size_t max_samples = 100)
      : script(std::make_shared<Scripted::Script>()),
        runner(CollectorKind{"scripted", nullptr, true, cadence, 1s},
               std::make_unique<Scripted>(script), clock, {}, {max_samples, 3}) {}
  std::string lines(const std::shared_ptr<const MetricSink>& sink) const {
    return sink == nullptr ? "none" : sink->families().at("x").lines();
  }
  test::ManualClock clock;
  std::shared_ptr<Scripted::Script> script;
  CollectorRunner runner;
};

TEST(CollectorRunner, InScrapeRunsEachTime) {
  Fixture f(0ms);
  EXPECT_EQ(f.lines(f.runner.samples()), "x{i=\"0\"} 1\n");
  f.script->value = 2;
  EXPECT_EQ(f.lines(f.runner.samples()), "x{i=\"0\"} 2\n");
  EXPECT_TRUE(f.runner.report().success);
  EXPECT_EQ(f.runner.report().last_success, f.clock.now());
}

TEST(CollectorRunner, FailuresAreCountedByReason) {
  Fixture f(0ms);
  f.script->status = Status(Code::Corruption, "cut");
  EXPECT_EQ(f.lines(f.runner.samples()), "x{i=\"0\"} 1\n");  // what it got is shown
  f.script->status = Status::io("/dev/kmsg: Permission denied");
  f.runner.samples();
  const RunReport report = f.runner.report();
  EXPECT_FALSE(report.success);
  EXPECT_EQ(report.errors.at("parse"), 1u);
  EXPECT_EQ(report.errors.at("permission"), 1u);
  EXPECT_EQ(report.last_success, std::nullopt);
}

TEST(CollectorRunner, MissingHardwareIsNoFailure) {
  Fixture f(0ms);
  f.script->status = Status::not_found("none here");
  f.runner.samples();
  EXPECT_TRUE(f.runner.report().success);
}

TEST(CollectorRunner, TooManySamplesAreDropped) {
  Fixture f(0ms, 10);
  f.script->samples = 11;
  EXPECT_EQ(f.runner.samples()->samples(), 0u);
  EXPECT_EQ(f.runner.report().dropped_samples, 11u);
}

TEST(CollectorRunner, BackgroundServesTheLastResultAndDropsItWhenOld) {
  Fixture f(24h);
  EXPECT_EQ(f.runner.samples(), nullptr);
  f.runner.start();
  f.script->wait_for_runs(1);
  while (!f.runner.report().has_run) std::this_thread::yield();
  EXPECT_EQ(f.lines(f.runner.samples()), "x{i=\"0\"} 1\n");
  EXPECT_TRUE(f.runner.report().cached);
  f.clock.advance(24h * 3 + 1ms);
  EXPECT_EQ(f.runner.samples(), nullptr);
}

TEST(CollectorRunner, AHangingRunIsATimeoutAndTheScrapeGoesOn) {
  Fixture f(24h);
  f.script->set_hold(true);
  f.runner.start();
  f.script->wait_for_runs(1);
  f.clock.advance(2s);  // beyond its deadline of 1 s
  EXPECT_EQ(f.runner.samples(), nullptr);
  EXPECT_EQ(f.runner.report().errors.at("timeout"), 1u);
  f.runner.samples();
  EXPECT_EQ(f.runner.report().errors.at("timeout"), 1u);  // once per run
  f.script->set_hold(false);
}

}  // namespace
}  // namespace vagt::agent
