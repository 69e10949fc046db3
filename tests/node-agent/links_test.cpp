// Links against their history and their configuration, what drivers count, who is at the other end.
#include "node-agent/link_history.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Links, TheMostALinkEverHadOutlivesTheAgent) {
  FakeHost host;
  host.file("proc/sys/kernel/random/boot_id", "one\n")
      .file("sys/class/net/ib0/device/vendor", "x\n");
  host.file("sys/class/net/ib0/speed", "400000\n");
  EXPECT_THAT(
      host.run(make_links),
      HasSubstr("vagt_network_link_max_speed_bytes{device=\"ib0\",source=\"seen\"} 50000000000\n"));
  host.file("sys/class/net/ib0/speed", "100000\n");
  EXPECT_THAT(host.run(make_links), HasSubstr("source=\"seen\"} 50000000000\n"));
  host.file("sys/class/net/ib0/speed", "-1\n");  // unknown, not slow
  EXPECT_THAT(host.run(make_links), HasSubstr("source=\"seen\"} 50000000000\n"));
  host.file("sys/class/net/ib0/speed", "100000\n").file("proc/sys/kernel/random/boot_id", "two\n");
  EXPECT_THAT(host.run(make_links), HasSubstr("source=\"seen\"} 12500000000\n"));
  host.filters().link_speeds["ib0"] = 800000;
  EXPECT_THAT(host.run(make_links), HasSubstr("source=\"config\"} 100000000000\n"));
}

TEST(Links, DriverStatisticsGoToTheirCollectors) {
  FakeHost host;
  host.file("sys/class/net/eth0/device/vendor", "x\n");
  host.file("stats",
            "eth0\trx_err_lane_0_phy\t3\neth0\trx_err_lane_1_phy\t4\neth0\trx_prio3_pause\t7\n"
            "eth1\trx_err_lane_0_phy\t99\neth0\tbad\tx\n");
  host.sources().fixtures.ethtool = host.path("stats");
  const std::string links = host.run(make_links);
  EXPECT_THAT(links, HasSubstr("vagt_network_fec_uncorrectable_total{device=\"eth0\"} 7\n"));
  EXPECT_THAT(links, HasSubstr("vagt_network_pause_frames_total{device=\"eth0\",direction=\"rx\","
                               "priority=\"3\"} 7\n"));
  EXPECT_THAT(links, Not(HasSubstr("node_ethtool")));
  const std::string ethtool = host.run(make_ethtool);
  EXPECT_THAT(ethtool, HasSubstr("node_ethtool_rx_err_lane_0_phy{device=\"eth0\"} 3\n"));
  EXPECT_THAT(ethtool, Not(HasSubstr("vagt_")));
}

TEST(Links, LldpNeighbours) {
  const auto found = parse_lldp(
      "lldp.eth0.via=LLDP\nlldp.eth0.chassis.mac=aa:bb\nlldp.eth0.chassis.name=leaf1\n"
      "lldp.eth0.port.ifname=Ethernet1/1\nlldp.eth0.port.descr=gpu-node-01\n"
      "lldp.eth1.100.chassis.name=leaf=2\nnonsense\nlldp.=x\nlldp.eth9.age=1\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].device, "eth0");
  EXPECT_EQ(found[0].chassis, "aa:bb");  // whichever comes first names it
  EXPECT_EQ(found[0].port, "Ethernet1/1");
  EXPECT_EQ(found[0].description, "gpu-node-01");
  EXPECT_EQ(found[1].device, "eth1.100");
  EXPECT_EQ(found[1].chassis, "leaf=2");
  EXPECT_EQ(parse_lldp("lldp.e.chassis.name=" + std::string(500, 'x'))[0].chassis.size(), 128u);
}

}  // namespace
}  // namespace vagt::agent
