#include "node-agent/kernel_log/counters.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string event(std::string_view line) {
  const auto found = classify(line);
  return found ? std::string(found->kind) + " " + found->device : "nothing";
}

TEST(KmsgRecord, Fields) {
  const auto record =
      parse_kmsg("30,1042,2500000,-;text; more\n SUBSYSTEM=pci\n", from_millis(1000));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 3);
  EXPECT_EQ(record->priority, 6);
  EXPECT_EQ(record->sequence, 1042u);
  EXPECT_EQ(record->at, from_millis(3500));
  EXPECT_EQ(record->text, "text; more");
  for (const char* bad : {"", "x", "6,1,2", "6,1;x", "a,b,c,-;x", " DEVICE=+pci"})
    EXPECT_FALSE(parse_kmsg(bad, {})) << bad;
}

TEST(KmsgRecord, DecodedDmesg) {
  const auto record = parse_dmesg("kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: x");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 0);
  EXPECT_EQ(record->priority, 4);
  EXPECT_EQ(record->text, "NVRM: x");
  EXPECT_EQ(record->at, parse_rfc3339("2025-01-21T04:41:44.283Z").value());
  EXPECT_EQ(parse_dmesg("user  :info  : 2025-01-21T04:41:44,0+00:00 y")->facility, 1);
  EXPECT_FALSE(parse_dmesg("no time here"));
}

TEST(KernelEvents, KindsAndDevices) {
  EXPECT_EQ(event("NVRM: Xid (PCI:0000:43:00): 13, pid=1, name=x, text"),
            "nvidia_xid 0000:43:00.0");
  EXPECT_EQ(event("NVRM: Xid (0000:03:00): 14, Channel 1"), "nvidia_xid 0000:03:00.0");
  EXPECT_EQ(event("NVRM: GPU 0000:df:00.0: GPU has fallen off the bus."),
            "nvidia_gpu_lost 0000:df:00.0");
  EXPECT_EQ(event("Memory cgroup out of memory: Killed process 5 (vllm) total"), "oom_kill vllm");
  EXPECT_EQ(event("python3 invoked oom-killer: gfp_mask"), "nothing");
  EXPECT_EQ(event("oom_reaper: reaped process 918273 (python3)"), "nothing");
  EXPECT_EQ(event("mlx5_core 0000:1c:00.0 ens10np0: Link down"), "link_down ens10np0");
  EXPECT_EQ(event("ixgbe 0000:19:00.0 eno1: NIC Link is Up 1 Gbps"), "link_up eno1");
  EXPECT_EQ(event("IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready"), "nothing");
  EXPECT_EQ(event("pcieport 0000:c0:05.1: pciehp: Slot(12): Link Down"), "pcie_link_down Slot(12)");
  EXPECT_EQ(event("I/O error, dev sr0, sector 0"), "nothing");
  EXPECT_EQ(event("blk_update_request: I/O error, dev sda, sector 1"), "disk_io_error sda");
  EXPECT_EQ(event("EXT4-fs (md0): Remounting filesystem read-only"), "fs_error md0");
  EXPECT_EQ(event("INFO: task kworker/u128:3:91823 blocked for more than 120 seconds."),
            "hung_task kworker/u128:3");
  EXPECT_EQ(event("audit: msg=\"Out of memory: Killed process 1\""), "nothing");
  EXPECT_EQ(event("my-driver: see also NVRM: Xid documentation"), "nothing");
  EXPECT_EQ(event("mce: CPU12: Core temperature above threshold, cpu clock throttled"),
            "thermal_throttle CPU12");
  EXPECT_EQ(event(""), "nothing");
}

TEST(KernelEvents, XidDetails) {
  const auto xid =
      parse_xid("NVRM: Xid (PCI:0000:c3:00): 119, pid=7, name=nvidia-smi, Timeout after 6s");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->code, 119);
  EXPECT_EQ(xid->pid, "7");
  EXPECT_EQ(xid->process, "nvidia-smi");
  EXPECT_EQ(xid->message, "Timeout after 6s");
  EXPECT_EQ(xid_severity(119), "page");
  EXPECT_EQ(xid_severity(94), "ticket");
  EXPECT_EQ(xid_severity(13), "info");
  EXPECT_EQ(xid_severity(100000), "info");
}

TEST(KernelEvents, MessagesAreCutAtACharacter) {
  EXPECT_EQ(clean_message("a\x01\tb\x7f"), "ab");
  const std::string cut = clean_message(std::string(199, 'x') + "é tail");
  EXPECT_EQ(cut, std::string(199, 'x'));
}

class Counters : public ::testing::Test {
 protected:
  void add(std::string_view text, Duration at, int facility = 0) {
    LogRecord record;
    record.text = text;
    record.at = from_millis(0) + at;
    record.facility = facility;
    record.sequence = next_++;
    counters_.add(record);
  }
  std::string page() const {
    MetricSink sink;
    counters_.write(sink, gpus_);
    std::string out;
    for (const auto& entry : sink.families()) out += entry.second.lines();
    return out;
  }
  KernelLogCounters counters_;
  mutable GpuDirectory gpus_;
  uint64_t next_ = 1;
};

TEST_F(Counters, XidsNameTheGpuOnceItIsKnown) {
  add("NVRM: Xid (PCI:0000:1b:00): 119, pid=7, name=x, Timeout", Duration(1000));
  EXPECT_THAT(page(),
              HasSubstr("vagt_gpu_xid_errors_total{pci_bus_id=\"0000:1b:00.0\",xid=\"119\"} 1"));
  gpus_.set_identity("00000000:1B:00.0", {"3", "GPU-x"});
  EXPECT_THAT(page(), HasSubstr("vagt_gpu_xid_errors_total{UUID=\"GPU-x\",gpu=\"3\",pci_bus_id="
                                "\"0000:1b:00.0\",xid=\"119\"} 1"));
  EXPECT_EQ(gpus_.xids("0000:1b:00.0").last_page, from_millis(1000));
  EXPECT_EQ(gpus_.xids("0000:1b:00.0").last_page_code, 119);
}

TEST_F(Counters, EveryKindIsThereAtZero) {
  const std::string text = page();
  for (const std::string_view kind : kernel_event_kinds())
    EXPECT_THAT(text,
                HasSubstr("vagt_kernel_events_total{kind=\"" + std::string(kind) + "\"} 0\n"));
}

TEST_F(Counters, SeriousXidsOfKnownGpusAreThereAtZero) {
  counters_.know_gpus({"0000:43:00.0"});
  add("NVRM: Xid (PCI:0000:43:00): 48, x", 1s);
  EXPECT_THAT(
      page(),
      AllOf(HasSubstr("vagt_gpu_xid_errors_total{pci_bus_id=\"0000:43:00.0\",xid=\"79\"} 0\n"),
            HasSubstr("{pci_bus_id=\"0000:43:00.0\",xid=\"48\"} 1\n"),
            HasSubstr("DCGM_FI_DEV_XID_ERRORS{pci_bus_id=\"0000:43:00.0\"} 48\n")));
}

TEST_F(Counters, OffTheBusWithoutAnXidCountsAs79Once) {
  add("NVRM: Xid (PCI:0000:df:00): 79, pid=1, name=x, GPU has fallen off the bus.", 1s);
  add("NVRM: GPU 0000:df:00.0: GPU has fallen off the bus.", 1500ms);
  add("NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.", 2s);
  add("NVRM: GPU 0000:52:00.0: GPU has fallen off the bus.", 2s);
  add("NVRM: Xid (PCI:0000:52:00): 79, x", 3s);  // it came after all
  counters_.settle(from_millis(10'000));
  const std::string text = page();
  for (const char* gpu : {"df", "1b", "52"})
    EXPECT_THAT(text, HasSubstr(std::string("vagt_gpu_xid_errors_total{pci_bus_id=\"0000:") + gpu +
                                ":00.0\",xid=\"79\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("vagt_kernel_events_total{kind=\"nvidia_gpu_lost\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("vagt_kernel_events_total{kind=\"nvidia_xid\"} 2\n"));
}

TEST_F(Counters, ProgramsCannotForgeEvents) {
  add("NVRM: Xid (PCI:0000:1b:00): 79, forged", 1s, 1);
  EXPECT_THAT(page(), Not(HasSubstr("0000:1b:00.0")));
}

TEST_F(Counters, OomInACgroupNamesTheCgroup) {
  add("oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/system.slice/docker-3f.scope,task=vllm",
      1s);
  add("Memory cgroup out of memory: Killed process 5 (vllm) total", 1s);
  add("Out of memory: Killed process 6 (java) total", 2s);
  counters_.settle(from_millis(60'000));
  EXPECT_THAT(page(), AllOf(HasSubstr("{device=\"docker-3f.scope\",kind=\"oom_kill\"} 1\n"),
                            HasSubstr("{device=\"java\",kind=\"oom_kill\"} 1\n")));
}

TEST_F(Counters, GapsAreLostRecords) {
  add("a", 1s);
  next_ += 40;
  add("b", 2s);
  EXPECT_THAT(page(), HasSubstr("vagt_kmsg_lost_total 40\n"));
}

TEST_F(Counters, AFloodOfDevicesEndsInOther) {
  for (int i = 0; i < 200; ++i)
    add("nfs: server s" + std::to_string(i) + " not responding, still trying", 1s);
  counters_.settle(from_millis(60'000));
  EXPECT_THAT(page(), AllOf(HasSubstr("{device=\"other\",kind=\"nfs_timeout\"} 136\n"),
                            HasSubstr("{kind=\"nfs_timeout\"} 200\n")));
}

TEST_F(Counters, CountersSurviveARestart) {
  add("NVRM: Xid (PCI:0000:43:00): 48, x", 5s);
  add("nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Fatal, Link 28", 6s);
  KernelLogCounters later;
  later.load(counters_.save());
  EXPECT_EQ(later.next_sequence(), 3u);
  EXPECT_EQ(later.save(), counters_.save());
  later.load("kind\nxid\t\n\t\t\t\nsequence\tx\n");  // a cut file does no harm
}

TEST(KernelLogCollector, ReadsARecordedLog) {
  FakeHost host;
  host.file("log", "4,1,5,-;NVRM: Xid (PCI:0000:43:00): 13, x\n SUBSYSTEM=pci\nrubbish\n");
  host.sources().fixtures.kmsg = host.path("log");
  EXPECT_THAT(host.run(make_kernel_log), HasSubstr("{pci_bus_id=\"0000:43:00.0\",xid=\"13\"} 1\n"));
}

// increase() does not see a series that is born with its first event.
TEST(KernelLogCounters, ADevicesFirstEventIsAStepFromZero) {
  KernelLogCounters counters;
  const auto line = [](uint64_t at_millis, std::string_view text) {
    LogRecord record;
    record.at = from_millis(static_cast<int64_t>(at_millis));
    record.text = text;
    return record;
  };
  const auto page = [&counters] {
    GpuDirectory gpus;
    MetricSink sink;
    counters.write(sink, gpus);
    std::string out;
    for (const auto& entry : sink.families()) out += entry.second.lines();
    return out;
  };
  const std::string sxid =
      "vagt_gpu_nvswitch_sxid_errors_total{fatal=\"true\",pci_bus_id=\"0000:07:00.0\","
      "sxid=\"20034\"} ";
  counters.add(line(1000, "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Fatal, Link 28"));
  counters.settle(from_millis(2000));
  EXPECT_THAT(page(), HasSubstr(sxid + "0\n"));
  EXPECT_THAT(page(), HasSubstr("vagt_kernel_events_total{kind=\"nvidia_nvswitch_sxid\"} 1\n"));
  counters.settle(from_millis(21'000));
  EXPECT_THAT(page(), HasSubstr(sxid + "1\n"));
  KernelLogCounters restarted;
  restarted.load(counters.save());
  counters = restarted;
  counters.settle(from_millis(22'000));
  EXPECT_THAT(page(), HasSubstr(sxid + "1\n"));
}

TEST(KernelLogCounters, DcgmsWindowAndLabelsOnRequest) {
  KernelLogCounters counters;
  counters.set_dcgm({true, true});
  LogRecord record;
  record.at = from_millis(1000);
  record.text = "NVRM: Xid (PCI:0000:43:00): 94, pid=1, name=x, Contained";
  counters.add(record);
  counters.add(record);
  const auto page = [&counters] {
    GpuDirectory gpus;
    MetricSink sink;
    counters.write(sink, gpus);
    std::string out;
    for (const auto& entry : sink.families()) out += entry.second.lines();
    return out;
  };
  EXPECT_THAT(page(), HasSubstr("window_size_in_ms=\"300000\",xid=\"94\"} 2\n"));
  EXPECT_THAT(page(), HasSubstr("err_code=\"94\",err_msg=\"Contained\"} 94\n"));
  counters.settle(from_millis(400'000));
  EXPECT_THAT(page(), Not(HasSubstr("DCGM_EXP_XID_ERRORS_COUNT{")));
}

}  // namespace
}  // namespace vagt::agent
