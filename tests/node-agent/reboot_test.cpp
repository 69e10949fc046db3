#include <sys/stat.h>

#include "node-agent/command.h"
#include "node-agent/kept_file.h"
#include "node-agent/kernel_log/journal.h"
#include "node-agent/reboot/marker.h"
#include "node-agent/reboot/readiness.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Timestamp kNow = from_millis(1'800'000'000'000);

TEST(Reboot, AMarkerCountsAtTheEndOfTheOldBoot) {
  BootState before;
  before.boot_id = "old";
  before.last_alive = kNow - 20min;
  before.clean_shutdown = true;
  RebootMarker marker{kNow - 10min, "kernel", "ops", "old"};
  auto state = begin_boot("new", before, marker, kNow);
  EXPECT_TRUE(state.planned);  // it had run out by now, but not when the boot ended
  EXPECT_TRUE(state.last_boot_clean);
  EXPECT_EQ(state.reason, "kernel");
  marker.expires_at = kNow - 30min;
  EXPECT_FALSE(begin_boot("new", before, marker, kNow).planned);
  marker = {kNow + 10min, "kernel", "ops", "new"};  // announces the end of this boot
  EXPECT_FALSE(begin_boot("new", before, marker, kNow).planned);
  EXPECT_FALSE(begin_boot("new", std::nullopt, std::nullopt, kNow).last_boot_known);
}

TEST(Reboot, ARestartOfTheAgentKeepsWhatWasDecided) {
  auto state = begin_boot("new", std::nullopt, RebootMarker{kNow + 1h, "r", "b", "old"}, kNow);
  ASSERT_TRUE(state.planned);
  const auto read = parse_boot_state(print_boot_state(state));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(begin_boot("new", *read, std::nullopt, kNow + 1min).planned);
  const auto next = begin_boot("newer", *read, std::nullopt, kNow + 1min);
  EXPECT_FALSE(next.planned);
  EXPECT_FALSE(next.last_boot_clean);
}

TEST(Reboot, BadStateIsRefused) {
  for (const char* text : {"", "{", "[]", R"({"expires_at":"soon"})"})
    EXPECT_FALSE(parse_marker(text).ok()) << text;
  EXPECT_FALSE(parse_boot_state("x").ok());
}

TEST(RebootCollector, CrashAndCleanEnd) {
  FakeHost host;
  host.clock().set(kNow);
  host.file("proc/sys/kernel/random/boot_id", "one\n");
  host.run(make_reboot);  // ends in order
  host.file("proc/sys/kernel/random/boot_id", "two\n");
  {
    const CollectorPtr collector = make_reboot(host.sources(), host.filters());
    EXPECT_THAT(host.run(*collector), HasSubstr("vagt_last_boot_clean 1\n"));
    std::filesystem::copy(host.path("state/state.json"), host.path("state/kept"));
  }
  // As a power loss leaves it.
  std::filesystem::rename(host.path("state/kept"), host.path("state/state.json"));
  host.file("proc/sys/kernel/random/boot_id", "three\n");
  EXPECT_THAT(host.run(make_reboot), HasSubstr("vagt_last_boot_clean 0\n"));
}

TEST(Readiness, VersionsByNumber) {
  EXPECT_TRUE(version_less("6.8.0-9-generic", "6.8.0-64-generic"));
  EXPECT_FALSE(version_less("6.10.1", "6.9.9"));
  EXPECT_FALSE(version_less("6.8", "6.8"));
  EXPECT_TRUE(version_less("6.8", "6.8.1"));
}

class ReadinessHost : public FakeHost {
 public:
  ReadinessHost() {
    file("proc/sys/kernel/osrelease", "6.8.0-60\n");
    file("boot/vmlinuz-6.8.0-60", "").file("boot/vmlinuz-6.8.0-64", "");
    file("lib/modules/6.8.0-60/updates/dkms/nvidia.ko", "x");
    file("lib/modules/6.8.0-64/kernel/drivers/gpu/drm/nouveau/nouveau.ko.zst", "x");
    file("var/lib/dkms/nvidia/570.1/6.8.0-60/x86_64/module/nvidia.ko", "x");
  }
};

TEST(Readiness, ADriverThatWillNotComeBack) {
  ReadinessHost host;
  const std::string page = host.run(make_driver_readiness);
  for (const char* check :
       {"nouveau_blacklisted", "module_for_newest_kernel", "dkms_built", "initramfs_current"})
    EXPECT_THAT(page, HasSubstr(std::string("vagt_reboot_readiness{check=\"") + check + "\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("vagt_kernel_newest_installed_info{release=\"6.8.0-64\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("vagt_kernel_reboot_required{reason=\"kernel\"} 1\n"));
  std::string words;
  EXPECT_FALSE(print_readiness(check_readiness(host.sources()), words));
  EXPECT_THAT(words, HasSubstr("FIX   module_for_newest_kernel: no nvidia.ko for kernel 6.8.0-64\n"
                               "        dkms autoinstall -k 6.8.0-64\n"));
}

TEST(Readiness, OneThatWill) {
  ReadinessHost host;
  host.file("lib/modules/6.8.0-64/updates/dkms/nvidia.ko.zst", "x");
  host.file("lib/modules/6.8.0-64/modules.dep", "updates/dkms/nvidia.ko.zst:\n");
  host.file("var/lib/dkms/nvidia/570.1/6.8.0-64/x86_64/module/nvidia.ko.zst", "x");
  host.file("etc/modprobe.d/x.conf", "# blacklist nothing\nblacklist nouveau\n");
  host.file("boot/initrd.img-6.8.0-64", "x");
  std::string words;
  EXPECT_TRUE(print_readiness(check_readiness(host.sources()), words)) << words;
}

TEST(Readiness, APinnedKernelIsTheOneThatCounts) {
  ReadinessHost host;
  host.file("etc/default/grub", "GRUB_DEFAULT=\"Advanced>Linux 6.8.0-60\"\n");
  EXPECT_EQ(check_readiness(host.sources()).next, "6.8.0-60");
}

TEST(Readiness, AHostWithoutADriverIsNotAsked) {
  FakeHost host;
  host.file("boot/vmlinuz-6.1", "");
  EXPECT_THAT(host.run(make_driver_readiness), Not(HasSubstr("vagt_reboot_readiness")));
}

TEST(Journal, EntriesBinaryFieldsAndCuts) {
  std::string text =
      "__CURSOR=c1\n__REALTIME_TIMESTAMP=5000000\nPRIORITY=3\nSYSLOG_FACILITY=0\n"
      "MESSAGE=NVRM: Xid\n\n__CURSOR=c2\nMESSAGE\n";
  text += std::string("\x03\0\0\0\0\0\0\0", 8) + "a\nb\nPRIORITY=4\n\n__CURSOR=c3\nMESSAGE\n\x09";
  JournalReader reader(text);
  auto record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "NVRM: Xid");
  EXPECT_EQ(record->priority, 3);
  EXPECT_EQ(record->at, from_millis(5000));
  record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "a\nb");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.cursor(), "c3");
}

TEST(SystemdCollector, CountsUnitsAndNamesFailedOnes) {
  FakeHost host;
  EXPECT_THAT(host.run(make_systemd), HasSubstr("systemd does not run here"));
  std::filesystem::create_directories(host.path("run/systemd/system"));
  host.file("systemctl",
            "#!/bin/sh\ncase \"$*\" in\n"
            "list-units*) printf 'a.service loaded active running A\\nb.service loaded failed "
            "failed B\\nc.mount not-found inactive dead C\\n';;\n"
            "*socket*) printf 'NAccepted=3\\nNConnections=1\\nNRefused=0\\nId=s.socket\\n';;\n"
            "*) printf 'Id=a.service\\nNRestarts=2\\n\\nId=b.service\\nNRestarts=0\\n';;\nesac\n");
  ASSERT_EQ(chmod(host.path("systemctl").c_str(), 0755), 0);
  host.filters().systemctl = host.path("systemctl");
  const std::string page = host.run(make_systemd);
  EXPECT_THAT(page, HasSubstr("node_systemd_units{state=\"failed\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_systemd_units{state=\"deactivating\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("node_systemd_unit_state{name=\"b.service\",state=\"failed\",type="
                              "\"service\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("name=\"a.service\",state")));
  EXPECT_THAT(page, HasSubstr("node_systemd_service_restart_total{name=\"a.service\"} 2\n"));
  EXPECT_THAT(page,
              HasSubstr("node_systemd_socket_accepted_connections_total{name=\"s.socket\"} 3\n"));
}

TEST(TcpstatCollector, RecordedAndLive) {
  FakeHost host;
  host.file("proc/net/tcp",
            "  sl  local rem st tx:rx\n"
            "   0: 0100007F:0016 00000000:0000 0A 00000001:00000002 00:0\n"
            "   1: 0100007F:0017 0100007F:0016 01 00000010:00000000 00:0\n");
  const std::string page = host.run(make_tcpstat);
  EXPECT_THAT(page, HasSubstr("node_tcp_connection_states{state=\"listen\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_tcp_connection_states{state=\"established\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_tcp_connection_states{state=\"tx_queued_bytes\"} 17\n"));
  host.sources().procfs = "/proc";
  EXPECT_THAT(host.run(make_tcpstat), HasSubstr("state=\"rx_queued_bytes\""));
}

TEST(Commands, AStuckSourceIsNotStartedTwice) {
  const auto slot = std::make_shared<CommandSlot>();
  slot->busy = true;
  EXPECT_THAT(run_command({"true"}, 1s, {}, slot), StatusIs(Code::Unavailable, "still hangs"));
  slot->busy = false;
  EXPECT_TRUE(run_command({"true"}, 1s, {}, slot).ok());
  EXPECT_FALSE(slot->busy);
  EXPECT_THAT(run_command({"sleep", "60"}, 20ms, {}, slot), StatusIs(Code::Timeout));
  EXPECT_FALSE(slot->busy);
  EXPECT_THAT(run_command({"no-such-program"}, 1s, {}, slot), StatusIs(Code::NotFound));
  EXPECT_FALSE(slot->busy);
}

TEST(KeptFiles, AFileThatIsReplacedOrGoneIsSeen) {
  FakeHost host;
  host.file("proc/a", "1\n");
  KeptFile file(host.path("proc/a"));
  EXPECT_EQ(file.number(), 1);
  std::filesystem::remove(host.path("proc/a"));
  host.file("proc/a", "2\n");
  EXPECT_EQ(file.number(), 2);
  std::filesystem::remove(host.path("proc/a"));
  std::string text;
  EXPECT_THAT(file.read(text), StatusIs(Code::NotFound));
  KeptFile live("/proc/loadavg");
  ASSERT_TRUE(live.read(text).ok());
  const size_t size = text.size();
  ASSERT_TRUE(live.read(text).ok());  // from the beginning again
  EXPECT_GT(size, 10u);
  EXPECT_GT(text.size(), 10u);
}

}  // namespace
}  // namespace vagt::agent
