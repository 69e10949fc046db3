#include "node-agent/agent.h"

#include "exposition/parse.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    host_.file("proc/loadavg", "1 2 3\n").file("proc/stat", "btime 5\n");
    options_.sources = host_.sources();
    options_.collectors = {"loadavg", "stat", "zfs"};
  }
  FakeHost host_;
  Options options_;
};

TEST_F(AgentTest, PageHasEveryCollectorAndItself) {
  const auto agent = Agent::make(options_).value();
  const std::string page = agent->page({}, PageFormat::Text).value();
  EXPECT_THAT(page, HasSubstr("node_load1 1\n"));
  EXPECT_THAT(page, HasSubstr("node_boot_time_seconds 5\n"));
  EXPECT_THAT(page, HasSubstr("node_scrape_collector_success{collector=\"zfs\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("process_resident_memory_bytes "));
  EXPECT_THAT(page, HasSubstr("vagt_scrape_series 4\n"));
  exposition::Parser parser(page, exposition::Format::Text);
  while (parser.next()) {
  }
  EXPECT_TRUE(parser.status().ok()) << parser.status().message();
}

TEST_F(AgentTest, SelectionsAreNodeExporters) {
  const auto agent = Agent::make(options_).value();
  const std::string one = agent->page({{"stat"}, {}}, PageFormat::Text).value();
  EXPECT_THAT(one, HasSubstr("node_boot_time_seconds"));
  EXPECT_THAT(one, Not(HasSubstr("node_load1")));
  EXPECT_THAT(agent->page({{}, {"stat"}}, PageFormat::Text).value(),
              Not(HasSubstr("node_boot_time_seconds")));
  EXPECT_THAT(agent->page({{"nosuch"}, {}}, PageFormat::Text),
              StatusIs(Code::InvalidArgument, "missing collector: nosuch"));
  EXPECT_THAT(agent->page({{"cpu"}, {}}, PageFormat::Text),
              StatusIs(Code::InvalidArgument, "disabled collector: cpu"));
  EXPECT_THAT(agent->page({{"stat"}, {"zfs"}}, PageFormat::Text),
              StatusIs(Code::InvalidArgument, "not allowed"));
}

TEST_F(AgentTest, OpenMetricsParses) {
  const auto agent = Agent::make(options_).value();
  const std::string page = agent->page({}, PageFormat::OpenMetrics).value();
  exposition::Parser parser(page, exposition::Format::OpenMetrics);
  while (parser.next()) {
  }
  EXPECT_TRUE(parser.status().ok()) << parser.status().message();
}

TEST_F(AgentTest, CollectOnceRunsBackgroundCollectorsToo) {
  host_.file("log", "4,1,5,-;NVRM: Xid (PCI:0000:43:00): 13, x\n");
  options_.sources.fixtures.kmsg = host_.path("log");
  options_.collectors = {"kernel_log"};
  const auto agent = Agent::make(options_).value();
  EXPECT_THAT(agent->collect_once(), HasSubstr("xid=\"13\"} 1\n"));
}

TEST_F(AgentTest, AFailingCollectorIsNamedAndTheOthersGoOn) {
  host_.file("proc/loadavg", "rubbish");
  const auto agent = Agent::make(options_).value();
  const std::string page = agent->page({}, PageFormat::Text).value();
  EXPECT_THAT(page, HasSubstr("node_scrape_collector_success{collector=\"loadavg\"} 0\n"));
  EXPECT_THAT(page,
              HasSubstr("vagt_collector_errors_total{collector=\"loadavg\",reason=\"parse\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_boot_time_seconds 5\n"));
}

TEST_F(AgentTest, UnknownCollector) {
  options_.collectors = {"nosuch"};
  EXPECT_THAT(Agent::make(options_), StatusIs(Code::InvalidArgument, "nosuch"));
}

}  // namespace
}  // namespace vagt::agent
