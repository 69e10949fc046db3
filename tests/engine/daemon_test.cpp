// The whole daemon in this process, on a free port and a folder of its own.
#include "engine/daemon.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "net/http_server.h"
#include "tests/support/status_matchers.h"

namespace vagt::engine {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        (std::string("daemon.") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("prometheus.yml",
          "rule_files: [a.rules.yml]\nnotify_file: am.yml\n"
          "scrape_configs: [{job_name: gone, static_configs: [{targets: ['127.0.0.1:1']}]}]\n");
    write("a.rules.yml",
          "groups: [{name: g, interval: 10ms, rules: [{alert: A, expr: up == 0}]}]\n");
    write("am.yml", "route: {receiver: r}\nreceivers: [{name: r}]\ntemplates: ['*.tmpl']\n");
    flags_.config_file = path("prometheus.yml");
    flags_.storage_path = path("data");
    flags_.listen_addresses = {"127.0.0.1:0"};
  }
  ~DaemonTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  std::filesystem::path folder_;
  Flags flags_;
  SystemClock clock_;
};

// SIGHUP and /-/reload come on different threads.
TEST_F(DaemonTest, ReloadsFromManyThreadsAtOnce) {
  auto daemon = Daemon::start(flags_, clock_, {});
  ASSERT_THAT(daemon, IsOk());
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round)
          if (!(*daemon)->reload().ok()) ++failures;
      });
    }
  }
  EXPECT_EQ(failures, 0);
}

TEST_F(DaemonTest, AReloadThatFailsSaysWhyAndTheNextOneCounts) {
  auto daemon = Daemon::start(flags_, clock_, {});
  ASSERT_THAT(daemon, IsOk());
  write("page.tmpl", "{{ define \"x\" }}{{ nosuch }}{{ end }}");
  const Status failed = (*daemon)->reload();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.message(), HasSubstr("page.tmpl"));
  std::filesystem::remove(path("page.tmpl"));
  EXPECT_THAT((*daemon)->reload(), IsOk());
}

TEST_F(DaemonTest, AnAddressThatIsTakenIsNamed) {
  auto other =
      net::HttpServer::start({.listen = {"127.0.0.1:0"}},
                             [](std::shared_ptr<const net::ServerRequest>, net::Respond respond) {
                               respond(net::ServerResponse::text(200, ""));
                             },
                             {});
  ASSERT_THAT(other, IsOk());
  const std::string taken = "127.0.0.1:" + std::to_string((*other)->ports().front());
  flags_.listen_addresses = {taken};
  const auto daemon = Daemon::start(flags_, clock_, {});
  ASSERT_FALSE(daemon.ok());
  EXPECT_THAT(daemon.error().message(), HasSubstr(taken));
}

}  // namespace
}  // namespace vagt::engine
