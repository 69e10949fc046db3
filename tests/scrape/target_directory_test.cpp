// Sources that list targets, through all that happens to them, and the directory that keeps what
// sources found for those who scrape nothing.
#include "scrape/discovery/target_directory.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scrape/discovery/listed_sources.h"
#include "tests/scrape/discovery_sink.h"
#include "tests/support/script_server.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class TargetFiles : public ::testing::Test {
 protected:
  TargetFiles() { std::filesystem::create_directories(folder); }
  ~TargetFiles() override { std::filesystem::remove_all(folder); }
  void write(const std::string& text) const {
    std::ofstream(folder + "/.new") << text;
    std::filesystem::rename(folder + "/.new", folder + "/t.yml");
  }
  std::vector<FileDiscoveryConfig> files() const { return {{{folder + "/*.yml"}, 5min}}; }

  const std::string folder = ::testing::TempDir() + "listed." + std::to_string(::getpid());
};

// Appear, change, malformed, source down and back, vanish: noticed, since `poll` is an hour.
TEST_F(TargetFiles, ASourcesLife) {
  test::RunningSource run(make_file_discovery(files(), 1h));
  ASSERT_TRUE(run.sink.wait_addresses({}));
  write("[{targets: ['a:1']}]");
  ASSERT_TRUE(run.sink.wait_addresses({"a:1"})) << run.sink.error();
  write("[{targets: ['a:1', 'b:1'], labels: {rack: r1}}]");
  ASSERT_TRUE(run.sink.wait_addresses({"a:1", "b:1"}));
  EXPECT_THAT(test::labels_at(run.sink.groups(), "b:1"), Contains(Pair("rack", "r1")));
  write("[{targets: 5}]");
  ASSERT_TRUE(run.sink.wait_error("t.yml:1:"));
  EXPECT_THAT(run.sink.addresses(), ElementsAre("a:1", "b:1"));
  std::filesystem::remove(folder + "/t.yml");
  std::filesystem::create_symlink("nowhere", folder + "/t.yml");  // there, and not to be read
  ASSERT_TRUE(run.sink.wait([](const auto& found, const std::string& error) {
    return found.size() != 2 || !error.empty();
  }));
  write("[{targets: ['b:1', 'c:1']}]");
  ASSERT_TRUE(run.sink.wait_addresses({"b:1", "c:1"})) << run.sink.error();
  std::filesystem::remove(folder + "/t.yml");
  ASSERT_TRUE(run.sink.wait_addresses({}));
}

TEST(TargetUrls, ASourcesLife) {
  std::atomic<int> phase{0};
  const test::ScriptServer server([&phase](test::Wire& wire) {
    wire.read_until("\r\n\r\n");
    const std::string json = "Content-Type: application/json\r\n";
    const auto answer = [&](int status, const std::string& body) {
      wire.send(test::http_answer(status, body, json + "Connection: close\r\n"));
    };
    switch (phase) {
      case 0:
        return answer(200, R"([{"targets": ["a:1"]}])");
      case 1:
        return answer(200, R"([{"targets": ["a:1", "b:1"], "labels": {"rack": "r1"}}])");
      case 2:
        return answer(500, "down");
      case 3:
        return;  // hangs up
      case 4:
        return answer(200, R"([{"targets": ["a:1"]}, {"targ)");
      case 5:
        return answer(200, R"([{"targets": ["b:1"]}])");
      default:
        return answer(200, "[]");
    }
  });
  HttpDiscoveryConfig config;
  config.url = server.url("/targets");
  config.refresh_interval = 20ms;
  test::RunningSource run(make_http_discovery(config, "vagt/test"));
  ASSERT_TRUE(run.sink.wait_addresses({"a:1"})) << run.sink.error();
  phase = 1;
  ASSERT_TRUE(run.sink.wait_addresses({"a:1", "b:1"}));
  EXPECT_THAT(test::labels_at(run.sink.groups(), "b:1"), Contains(Pair("__meta_url", config.url)));
  for (const auto& [fault, words] :
       {std::pair{2, "HTTP status 500"}, std::pair{3, "EOF"}, std::pair{4, "answer:1:"}}) {
    phase = fault;
    ASSERT_TRUE(run.sink.wait_error(words)) << words << ": " << run.sink.error();
    EXPECT_THAT(run.sink.addresses(), ElementsAre("a:1", "b:1")) << words;
  }
  phase = 5;
  ASSERT_TRUE(run.sink.wait_addresses({"b:1"})) << run.sink.error();
  phase = 6;
  ASSERT_TRUE(run.sink.wait_addresses({}));
}

TEST_F(TargetFiles, TheDirectoryKeepsWhatSectionsFind) {
  base::Registry registry;
  std::atomic<int> changes{0};
  TargetDirectory::Options options;
  options.changed = [&changes] { ++changes; };
  TargetDirectory directory(options, registry, base::Logger());
  DiscoveryConfig written, listed;
  written.static_groups = {{{{{"__address__", "s:1"}}}, {}, "static/0"}};
  written.unsupported = {"ec2_sd_configs"};
  listed.files = files();
  write("[{targets: ['a:1']}]");
  EXPECT_FALSE(directory.found(listed).is_complete);  // nobody has asked yet
  directory.apply({&written, &listed});
  for (int i = 0; i < 5000 && !directory.found(listed).is_complete; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_GE(changes, 1);
  ASSERT_THAT(directory.found(listed).groups, SizeIs(1));
  EXPECT_THAT(directory.found(listed).errors, IsEmpty());
  EXPECT_TRUE(directory.found(written).is_complete);
  ASSERT_THAT(directory.found(written).groups, SizeIs(1));
  EXPECT_THAT(directory.found(written).errors, ElementsAre(HasSubstr("ec2_sd_configs")));
  EXPECT_THAT(registry.render(),
              HasSubstr("prometheus_sd_received_updates_total{name=\"notify\"} 1"));
  // What stays is not asked anew; what goes is forgotten.
  directory.apply({&listed});
  EXPECT_TRUE(directory.found(listed).is_complete);
  directory.apply({});
  EXPECT_FALSE(directory.found(listed).is_complete);
  EXPECT_THAT(directory.found(listed).groups, IsEmpty());
}

}  // namespace
}  // namespace vagt::scrape
