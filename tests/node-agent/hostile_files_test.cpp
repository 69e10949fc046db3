// What stands in a file's place: FIFOs, devices, directories, files without end; state that cannot
// be kept.
#include <sys/stat.h>

#include "base/log.h"
#include "node-agent/agent.h"
#include "node-agent/collector_list.h"
#include "node-agent/kept_file.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using test::StatusIs;
using ::testing::HasSubstr;

TEST(HostileFiles, AFifoIsRefusedAndNotWaitedFor) {
  FakeHost host;
  const std::string fifo = host.file("proc/x", "").path("proc/fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0644), 0);
  std::string text = "before";
  const Status status = read_file(fifo, text);
  EXPECT_THAT(status, StatusIs(Code::Io));
  EXPECT_THAT(status.message(), HasSubstr("not a regular file"));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(read_line(fifo));
  EXPECT_FALSE(read_number(fifo));
  KeptFile kept(fifo);
  EXPECT_THAT(kept.read(text), StatusIs(Code::Io));
  EXPECT_FALSE(kept.number());
  EXPECT_FALSE(kept.line(text));
}

TEST(HostileFiles, DevicesAndDirectoriesAreRefused) {
  std::string text;
  EXPECT_THAT(read_file("/dev/zero", text), StatusIs(Code::Io));
  EXPECT_THAT(read_file("/", text), StatusIs(Code::Io));
  EXPECT_FALSE(read_number("/dev/zero"));
}

TEST(HostileFiles, WhatIsTooLargeIsAnErrorAndGivesItsMemoryBack) {
  FakeHost host;
  const std::string path = host.file("proc/big", "").path("proc/big");
  std::filesystem::resize_file(path, kMaxFile + 1);
  std::string text;
  const Status status = read_file(path, text);
  EXPECT_THAT(status, StatusIs(Code::Io));
  EXPECT_THAT(status.message(), HasSubstr("large"));
  EXPECT_LT(text.capacity(), 1u << 16);
  KeptFile kept(path);
  EXPECT_THAT(kept.read(text), StatusIs(Code::Io));
  EXPECT_LT(text.capacity(), 1u << 16);
  std::filesystem::resize_file(path, kMaxFile);
  EXPECT_TRUE(read_file(path, text).ok());
  EXPECT_EQ(text.size(), kMaxFile);
}

// Every file that a collector opens below these roots, replaced by a FIFO: none may hang.
TEST(HostileFiles, NoCollectorHangsOnFifosBelowItsRoots) {
  FakeHost host;
  const char* const files[] = {"proc/stat",
                               "proc/meminfo",
                               "proc/vmstat",
                               "proc/loadavg",
                               "proc/diskstats",
                               "proc/mdstat",
                               "proc/schedstat",
                               "proc/1/mountinfo",
                               "proc/interrupts",
                               "proc/uptime",
                               "proc/pressure/cpu",
                               "proc/pressure/memory",
                               "proc/pressure/io",
                               "proc/net/dev",
                               "proc/net/snmp",
                               "proc/net/netstat",
                               "proc/net/snmp6",
                               "proc/net/sockstat",
                               "proc/net/softnet_stat",
                               "proc/net/arp",
                               "proc/net/udp",
                               "proc/net/tcp",
                               "proc/sys/fs/file-nr",
                               "proc/sys/kernel/tainted",
                               "etc/os-release",
                               "proc/spl/kstat/zfs/tank/state",
                               "sys/class/net/eth0/operstate",
                               "sys/class/net/eth0/speed",
                               "sys/class/hwmon/hwmon0/temp1_input",
                               "sys/class/nvme/nvme0/state",
                               "sys/class/thermal/thermal_zone0/temp",
                               "sys/class/infiniband/mlx5_0/ports/1/state",
                               "sys/devices/system/edac/mc/mc0/ce_count",
                               "sys/bus/pci/devices/0000:43:00.0/class",
                               "boot/vmlinuz-6.1",
                               "lib/modules/6.1/updates/dkms/nvidia.ko",
                               "etc/modprobe.d/nvidia.conf"};
  for (const char* file : files) {
    const std::string path = host.path(file);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_EQ(mkfifo(path.c_str(), 0644), 0) << path;
  }
  for (const CollectorKind& kind : collector_kinds()) {
    // These ask programs and sockets of the machine the test runs on.
    if (kind.name == "ipmi" || kind.name == "smart" || kind.name == "containers" ||
        kind.name == "systemd" || kind.name == "gpu" || kind.name == "kernel_log" ||
        kind.name == "ntp" || kind.name == "tcpstat")
      continue;
    const CollectorPtr collector = kind.make(host.sources(), host.filters());
    MetricSink sink;
    collector->collect(sink, {}).ignore("that it comes back is what is tested");
  }
}

TEST(StateHealth, SaysWhenStateCannotBeKeptAndWhenItCanAgain) {
  FakeHost host;
  std::vector<std::string> lines;
  StateHealth health;
  const base::Logger log = host.sources().log;
  health.check(host.path("state"), log);
  EXPECT_TRUE(health.good());
  EXPECT_EQ(health.failures(), 0u);
  EXPECT_FALSE(std::filesystem::exists(host.path("state/writable")));
  health.check(host.path("no-such-directory"), log);
  EXPECT_FALSE(health.good());
  EXPECT_EQ(health.failures(), 1u);
  health.note(Status(), log);
  EXPECT_TRUE(health.good());
}

TEST(StateHealth, IsOnThePage) {
  FakeHost host;
  Options options;
  options.sources = host.sources();
  options.sources.state_dir = host.path("gone");
  options.collectors = {"reboot"};
  host.file("proc/sys/kernel/random/boot_id", "b\n");
  const auto agent = Agent::make(options).value();
  const std::string page = agent->page({}, PageFormat::Text).value();
  EXPECT_THAT(page, HasSubstr("vagt_capability{capability=\"state_dir\"} 0\n"));
  const std::string again = agent->page({}, PageFormat::Text).value();
  EXPECT_THAT(again, HasSubstr("vagt_state_write_errors_total 1\n"));
}

}  // namespace
}  // namespace vagt::agent
