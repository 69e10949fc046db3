#include "exposition/parse.h"
#include "node-agent/collector_list.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Cpu, ModesInSecondsAndNoStepBack) {
  FakeHost host;
  host.file("proc/stat", "cpu  9 9 9 9\ncpu3 100 200 300 4000 50 6 7 8 9 10\nintr 1\n");
  const CollectorPtr cpu = make_cpu(host.sources(), host.filters());
  EXPECT_THAT(host.run(*cpu),
              AllOf(HasSubstr("node_cpu_seconds_total{cpu=\"3\",mode=\"idle\"} 40\n"),
                    HasSubstr("{cpu=\"3\",mode=\"steal\"} 0.08\n"),
                    HasSubstr("guest_seconds_total{cpu=\"3\",mode=\"nice\"} 0.1\n"),
                    Not(HasSubstr("cpu=\"\""))));
  host.file("proc/stat", "cpu3 100 200 300 3900 50 6 7 8 9 10\n");
  EXPECT_THAT(host.run(*cpu), HasSubstr("mode=\"idle\"} 40\n"));  // one second back: kept
  host.file("proc/stat", "cpu3 100 200 300 5 50 6 7 8 9 10\n");
  EXPECT_THAT(host.run(*cpu), HasSubstr("mode=\"idle\"} 0.05\n"));  // a reset
}

TEST(Cpu, ThrottlesOncePerCoreAndPackage) {
  FakeHost host;
  host.file("proc/stat", "");
  for (const char* cpu : {"cpu0", "cpu1"}) {
    const std::string path = std::string("sys/devices/system/cpu/") + cpu;
    host.file(path + "/thermal_throttle/core_throttle_count", "5\n");
    host.file(path + "/thermal_throttle/package_throttle_count", "30\n");
    host.file(path + "/topology/core_id", "0\n")
        .file(path + "/topology/physical_package_id", "1\n");
  }
  EXPECT_EQ(host.run(make_cpu),
            "node_cpu_core_throttles_total{core=\"0\",package=\"1\"} 5\n"
            "node_cpu_package_throttles_total{package=\"1\"} 30\n");
}

TEST(Meminfo, NamesAndUnits) {
  FakeHost host;
  host.file("proc/meminfo",
            "MemTotal:  8 kB\nActive(anon): 2 kB\nHugePages_Total: 3\nbroken\nX: y kB\n");
  EXPECT_EQ(host.run(make_meminfo),
            "node_memory_Active_anon_bytes 2048\nnode_memory_HugePages_Total 3\n"
            "node_memory_MemTotal_bytes 8192\n");
}

TEST(Loadavg, RubbishIsAnError) {
  FakeHost host;
  host.file("proc/loadavg", "0.5 1.25 7 1/2 3\n");
  EXPECT_THAT(host.run(make_loadavg), HasSubstr("node_load15 7\n"));
  host.file("proc/loadavg", "x");
  EXPECT_THAT(host.run(make_loadavg), HasSubstr("corruption: "));
}

TEST(Diskstats, OldKernelsHaveFewerColumns) {
  FakeHost host;
  host.filters().disk_devices = NameFilter::make("", "^loop").value();
  host.file("proc/diskstats",
            " 8 0 sda 1 2 3 47 5 6 7 8 9 10 11\n 7 0 loop0 1 1 1 1 1 1 1 1 1 1 1\n");
  host.file("udev/b8:0", "E:ID_MODEL=Fast disk\nE:ID_SERIAL_SHORT=S1\nS:x\n");
  const std::string page = host.run(make_diskstats);
  EXPECT_THAT(page, HasSubstr("node_disk_read_bytes_total{device=\"sda\"} 1536\n"));
  EXPECT_THAT(page, HasSubstr("node_disk_read_time_seconds_total{device=\"sda\"} 0.047\n"));
  EXPECT_THAT(
      page,
      HasSubstr("model=\"Fast disk\",path=\"\",revision=\"\",rotational=\"0\",serial=\"S1\""));
  EXPECT_THAT(page, Not(HasSubstr("discards")));
  EXPECT_THAT(page, Not(HasSubstr("loop0")));
}

TEST(Netdev, ReadsTheFileOfAnotherRoot) {
  FakeHost host;
  host.file("proc/net/dev",
            "Inter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  EXPECT_THAT(host.run(make_netdev),
              AllOf(HasSubstr("node_network_receive_multicast_total{device=\"eth0\"} 8\n"),
                    HasSubstr("node_network_transmit_compressed_total{device=\"eth0\"} 16\n")));
}

TEST(Netclass, UnknownSpeedIsAbsent) {
  FakeHost host;
  host.file("sys/class/net/eth0/operstate", "up\n").file("sys/class/net/eth0/speed", "-1\n");
  host.file("sys/class/net/eth0/flags", "0x1003\n").file("sys/class/net/ib0/speed", "400000\n");
  host.file("sys/class/net/ib0/device/vendor", "0x15b3\n")
      .file("sys/class/net/bonding_masters", "b\n");
  const std::string page = host.run(make_netclass);
  EXPECT_THAT(page, HasSubstr("node_network_speed_bytes{device=\"ib0\"} 50000000000\n"));
  EXPECT_THAT(page, HasSubstr("vagt_network_link_speed_bytes{device=\"ib0\"} 50000000000\n"));
  EXPECT_THAT(page, Not(HasSubstr("speed_bytes{device=\"eth0\"")));
  EXPECT_THAT(page, HasSubstr("adminstate=\"up\",broadcast=\"\",device=\"eth0\""));
  EXPECT_THAT(page, Not(HasSubstr("bonding_masters")));
}

TEST(Netstat, PairsOfLinesAndSnmp6) {
  FakeHost host;
  host.filters().netstat_fields = NameFilter::make("^(Tcp_InErrs|Ip6_InOctets)$", "").value();
  host.file("proc/net/netstat", "TcpExt: A B\nTcpExt: 1 2\n");
  host.file("proc/net/snmp", "Tcp: MaxConn InErrs\nTcp: -1 7\n")
      .file("proc/net/snmp6", "Ip6InOctets 9\n");
  EXPECT_EQ(host.run(make_netstat), "node_netstat_Ip6_InOctets 9\nnode_netstat_Tcp_InErrs 7\n");
}

TEST(Mdadm, StatesMembersAndProgress) {
  FakeHost host;
  host.file("proc/mdstat",
            "Personalities : [raid1]\nmd6 : active raid1 sdb2[2](F) sdc[1](S) sda2[0]\n"
            "      195310144 blocks [2/1] [U_]\n"
            "      [=>...]  recovery =  8.5% (16775552/195310144) finish=17.0min\n\n"
            "md9 : active raid0 sda1[0] sdb1[1]\n      100 blocks 64k chunks\n"
            "unused devices: <none>\n");
  host.file("sys/block/md6/md/raid_disks", "2\n").file("sys/block/md6/md/degraded", "1\n");
  const std::string page = host.run(make_mdadm);
  EXPECT_THAT(page, HasSubstr("node_md_state{device=\"md6\",state=\"recovering\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_md_disks{device=\"md6\",state=\"failed\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_md_disks_required{device=\"md9\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("node_md_blocks_synced{device=\"md6\"} 16775552\n"));
  EXPECT_THAT(page, HasSubstr("node_md_degraded{device=\"md6\"} 1\n"));
}

TEST(Edac, DimmsCarryTheirLabels) {
  FakeHost host;
  const std::string mc = "sys/devices/system/edac/mc/mc1/";
  host.file(mc + "ce_count", "7\n").file(mc + "csrow0/ce_count", "3\n");
  host.file(mc + "dimm2/dimm_ce_count", "4\n").file(mc + "dimm2/dimm_label", "P1_DIMMB1\n");
  EXPECT_EQ(host.run(make_edac),
            "node_edac_correctable_errors_total{controller=\"1\"} 7\n"
            "node_edac_csrow_correctable_errors_total{controller=\"1\",csrow=\"0\"} 3\n"
            "node_edac_dimm_correctable_errors_total{controller=\"1\",dimm=\"2\",label=\"P1_"
            "DIMMB1\"} 4\n");
}

TEST(Hwmon, ChipNamesComeFromTheDevice) {
  FakeHost host;
  host.file("sys/devices/platform/coretemp.0/hwmon/hwmon3/name", "coretemp\n");
  host.file("sys/devices/platform/coretemp.0/hwmon/hwmon3/temp1_input", "41500\n");
  host.file("sys/devices/platform/coretemp.0/hwmon/hwmon3/temp1_crit_alarm", "1\n");
  host.link("sys/devices/platform/coretemp.0/hwmon/hwmon3/device", "../../../coretemp.0");
  host.link("sys/class/hwmon/hwmon3", "../../devices/platform/coretemp.0/hwmon/hwmon3");
  EXPECT_EQ(
      host.run(make_hwmon),
      "node_hwmon_chip_names{chip=\"platform_coretemp_0\",chip_name=\"coretemp\"} 1\n"
      "node_hwmon_temp_celsius{chip=\"platform_coretemp_0\",sensor=\"temp1\"} 41.5\n"
      "node_hwmon_temp_crit_alarm_celsius{chip=\"platform_coretemp_0\",sensor=\"temp1\"} 1\n");
}

TEST(Softnet, ManyCpusAreSummed) {
  FakeHost host;
  host.filters().per_cpu_max = 1;
  const std::string zeros = " 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
  host.file("proc/net/softnet_stat", "10 1" + zeros + "20 2" + zeros);
  EXPECT_THAT(host.run(make_softnet),
              AllOf(HasSubstr("node_softnet_processed_total{cpu=\"all\"} 48\n"),
                    HasSubstr("node_softnet_dropped_total{cpu=\"all\"} 3\n")));
}

TEST(Pci, ADeviceOffTheBusHasNoLink) {
  FakeHost host;
  const std::string gpu = "sys/bus/pci/devices/0000:9d:00.0/";
  host.file(gpu + "class", "0x030200\n").file(gpu + "vendor", "0x10de\n");
  host.file(gpu + "current_link_width", "63\n").file(gpu + "current_link_speed", "Unknown\n");
  host.file(gpu + "max_link_width", "16\n")
      .file(gpu + "aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 2\n");
  EXPECT_EQ(host.run(make_pci),
            "vagt_gpu_count{source=\"pci\"} 1\n"
            "vagt_pcie_aer_errors_total{pci_bus_id=\"0000:9d:00.0\",severity=\"fatal\"} 2\n"
            "vagt_pcie_link_max_width{class=\"gpu\",pci_bus_id=\"0000:9d:00.0\"} 16\n");
}

TEST(Timex, TakesARecordedAnswer) {
  FakeHost host;
  host.file("t", "return\t5\nstatus\t8193\noffset\t-12345\nmaxerror\t43000\n");
  host.sources().fixtures.adjtimex = host.path("t");
  EXPECT_THAT(host.run(make_timex), AllOf(HasSubstr("node_timex_sync_status 0\n"),
                                          HasSubstr("node_timex_offset_seconds -1.2345e-05\n"),
                                          HasSubstr("node_timex_maxerror_seconds 0.043\n")));
}

TEST(Textfile, GoodFilesCountAndBadOnesAreNamed) {
  FakeHost host;
  host.filters().textfile_directory = host.path("text");
  host.file("text/good.prom",
            "# HELP x X.\n# TYPE x counter\nx{a=\"b\"} 2\n# TYPE h "
            "histogram\nh_bucket{le=\"+Inf\"} 1\nh_count 1\nh_sum 2\n");
  host.file("text/late.prom", "x{a=\"b\"} 3\n");
  host.file("text/time.prom", "y 1 1700000000000\n").file("text/cut.prom", "z{a=\"\n");
  host.file("text/notes.txt", "not read");
  const std::string page = host.run(make_textfile);
  EXPECT_THAT(page, HasSubstr("x{a=\"b\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("h_bucket{le=\"+Inf\"} 1\nh_count 1\nh_sum 2\n"));
  EXPECT_THAT(page, HasSubstr("node_textfile_scrape_error 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("x{a=\"b\"} 3")));
  EXPECT_THAT(page, Not(HasSubstr("y 1")));
  EXPECT_THAT(page, HasSubstr("good.prom\"} "));
}

// Every collector, on a host that has nothing, and on one whose files are rubbish.
class EveryCollector : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryCollector, SurvivesAMissingSource) {
  FakeHost host;
  host.sources().fixtures.kmsg = host.path("none");
  host.sources().fixtures.nvidia_smi = host.path("none.xml");
  const CollectorKind* kind = find_collector(GetParam());
  ASSERT_NE(kind, nullptr);
  const CollectorPtr collector = kind->make(host.sources(), host.filters());
  EXPECT_EQ(collector->name(), GetParam());
  host.run(*collector);
}

TEST_P(EveryCollector, GivesAValidPageFromRubbish) {
  FakeHost host;
  std::string rubbish = "a\"b\\{}=\xff\xfe 1 2 3\n: : : :\n\n\t\tcpu0 x y\n";
  rubbish += std::string(5000, 'A') + "\n-1 -1 99999999999999999999999 0x NaN\n";
  for (const char* path : {"proc/stat",
                           "proc/meminfo",
                           "proc/vmstat",
                           "proc/loadavg",
                           "proc/diskstats",
                           "proc/net/dev",
                           "proc/net/arp",
                           "proc/net/netstat",
                           "proc/net/snmp",
                           "proc/net/snmp6",
                           "proc/net/sockstat",
                           "proc/net/softnet_stat",
                           "proc/net/udp",
                           "proc/mdstat",
                           "proc/interrupts",
                           "proc/schedstat",
                           "proc/1/mountinfo",
                           "proc/1/stat",
                           "proc/pressure/cpu",
                           "proc/sys/fs/file-nr",
                           "proc/spl/kstat/zfs/p/state",
                           "sys/class/net/e/speed",
                           "sys/class/net/e/flags",
                           "sys/class/nvme/n/state",
                           "sys/class/thermal/thermal_zone0/type",
                           "sys/class/dmi/id/sys_vendor",
                           "sys/class/hwmon/hwmon0/temp1_input",
                           "sys/class/hwmon/hwmon0/temp1_label",
                           "sys/class/infiniband/m/ports/1/rate",
                           "sys/class/infiniband/m/ports/1/state",
                           "sys/bus/pci/devices/0/class",
                           "sys/devices/system/cpu/vulnerabilities/v",
                           "etc/os-release",
                           "log",
                           "smi.xml",
                           "smi.csv",
                           "uname",
                           "adjtimex"})
    host.file(path, rubbish);
  auto& fixtures = host.sources().fixtures;
  fixtures.kmsg = host.path("log");
  fixtures.nvidia_smi = host.path("smi.xml");
  fixtures.uname = host.path("uname");
  fixtures.adjtimex = host.path("adjtimex");
  const CollectorPtr collector = find_collector(GetParam())->make(host.sources(), host.filters());
  MetricSink sink;
  collector->collect(sink, {}).ignore("only the page matters here");
  std::string page;
  for (const auto& entry : sink.families())
    if (!entry.second.lines().empty()) page += entry.second.head() + entry.second.lines();
  exposition::Parser parser(page, exposition::Format::Text);
  while (parser.next()) {
  }
  EXPECT_TRUE(parser.status().ok()) << parser.status().message();
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const CollectorKind& kind : collector_kinds()) names.emplace_back(kind.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, EveryCollector, ::testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace vagt::agent
