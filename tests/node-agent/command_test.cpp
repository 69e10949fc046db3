#include "node-agent/command.h"

#include "tests/support/status_matchers.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;

TEST(Command, OutputExitCodeAndEnvironment) {
  const auto run =
      run_command({"sh", "-c", "echo \"$LC_ALL $TZ $HOME.\"; echo err >&2; exit 6"}, 10s, {});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(run->out, "C UTC .\nerr\n");
  EXPECT_EQ(run->exit_code, 6);
}

TEST(Command, NoSuchProgram) {
  EXPECT_THAT(run_command({"vagt-no-such-program"}, 1s, {}), StatusIs(Code::NotFound));
}

TEST(Command, IsKilledWithItsChildrenAtTheDeadline) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(run_command({"sh", "-c", "sleep 100 & sleep 100"}, 50ms, {}),
              StatusIs(Code::Timeout));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST(Command, AFloodIsRefused) {
  EXPECT_THAT(run_command({"sh", "-c", "yes"}, 30s, {}), StatusIs(Code::LimitExceeded));
}

TEST(Command, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(run_command({"sleep", "100"}, 30s, stop.get_token()), StatusIs(Code::Cancelled));
}

}  // namespace
}  // namespace vagt::agent
