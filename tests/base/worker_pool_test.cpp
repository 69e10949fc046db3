#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/mailbox.h"

namespace vagt::base {
namespace {

TEST(WorkerPool, RunsWhatWasQueuedBeforeItEnds) {
  std::atomic<int> ran{0};
  {
    WorkerPool pool({.name = "test", .threads = 2, .max_queue = 100, .nice = 0});
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(pool.submit([&ran] { ++ran; }));
  }
  EXPECT_EQ(ran, 50);
}

TEST(WorkerPool, AFullQueueRefuses) {
  std::latch release(1), started(1);
  WorkerPool pool({.name = "test", .threads = 1, .max_queue = 1, .nice = 0});
  ASSERT_TRUE(pool.submit([&] {
    started.count_down();
    release.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.submit([] {}));
  EXPECT_FALSE(pool.submit([] {}));
  release.count_down();
}

TEST(Mailbox, KeepsOrderAcrossThreads) {
  Mailbox<int> box;
  std::jthread sender([&box] {
    for (int i = 0; i < 1000; ++i) box.post(i);
  });
  int expected = 0;
  while (expected < 1000) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto batch = box.wait_until(deadline, {});
    ASSERT_FALSE(batch.empty());
    for (const int message : batch) EXPECT_EQ(message, expected++);
  }
}

TEST(Mailbox, AStopEndsTheWait) {
  Mailbox<int> box;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(
      box.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1), stop.get_token())
          .empty());
}

}  // namespace
}  // namespace vagt::base
