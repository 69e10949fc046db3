// The real thread, writer and transport: what the stepped tests cannot show.
#include <gmock/gmock.h>

#include <thread>

#include "notify/command.h"
#include "tests/notify/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

using test::IsOk;
using testing::HasSubstr;

class LockedKv final : public KvStore {
 public:
  Status write(const KvBatch& batch, Sync sync) override {
    base::MutexLock lock(mutex_);
    return inner_.write(batch, sync);
  }
  Result<std::optional<std::string>> get(std::string_view key) const override {
    base::MutexLock lock(mutex_);
    return inner_.get(key);
  }
  Status scan(std::string_view prefix,
              const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    base::MutexLock lock(mutex_);
    return inner_.scan(prefix, visit);
  }
  size_t count(std::string_view prefix) const {
    size_t n = 0;
    scan(prefix, [&](auto, auto) { return ++n > 0; }).ignore("the fake does not fail");
    return n;
  }

 private:
  mutable base::Mutex mutex_;
  MemoryKv inner_ VAGT_GUARDED_BY(mutex_);
};

TEST(Loop, ManyPostersOneOwnerNothingLost) {
  LockedKv kv;
  SystemClock clock;
  FakeTransport transport;  // used by the notify thread only
  NotifyManager::Options options;
  options.kv = &kv;
  options.clock = &clock;
  options.transport = &transport;
  NotifyManager manager(std::move(options));
  ASSERT_THAT(manager.open(), IsOk());
  Config config = small_config();
  config.route.group_wait = Duration(0);
  ASSERT_THAT(manager.apply(config), IsOk());
  manager.start();
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < 4; ++t) {
      posters.emplace_back([&manager, t] {
        for (int i = 0; i < 25; ++i) {
          PostedAlert alert;
          alert.labels = Labels::of({{"alertname", "A"}, {"i", std::to_string(t * 100 + i)}});
          EXPECT_THAT(manager.put_alerts({alert}), IsOk());
          manager.alerts({});
        }
      });
    }
  }
  EXPECT_EQ(kv.count("notify/alert/"), 100u) << "an answered post is on disk";
  EXPECT_EQ(manager.alerts({}).size(), 100u);
  manager.stop();
  EXPECT_GE(transport.sent.size(), 1u);
  EXPECT_EQ(kv.count("notify/log/"), 1u);
  EXPECT_EQ(manager.alerts({}).size(), 100u) << "questions are answered after the stop, too";
}

TEST(Command, RunsWithInputAndTimeLimit) {
  ExecTransfer exec;
  exec.command = {"/bin/sh", "-c", "cat; echo $VAGT_STATUS; exit 3"};
  exec.environment = {{"VAGT_STATUS", "firing"}};
  exec.input = "hello ";
  TransferReply reply = run_command(exec);
  ASSERT_TRUE(reply.answered());
  EXPECT_EQ(reply.status, 3);
  EXPECT_EQ(reply.body, "hello firing\n");
  exec.command = {"/nonexistent/program"};
  reply = run_command(exec);
  EXPECT_TRUE(!reply.answered() || reply.status == 127);
  exec.command = {"/bin/sh", "-c", "sleep 20"};
  exec.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(run_command(exec).failure.code(), Code::Timeout);
}

}  // namespace
}  // namespace vagt::notify
