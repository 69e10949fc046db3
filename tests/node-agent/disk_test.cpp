#include <sys/stat.h>

#include "node-agent/containers/docker.h"
#include "node-agent/disk/smart.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

std::string lines(const MetricSink& sink) {
  std::string out;
  for (const auto& entry : sink.families()) out += entry.second.lines();
  return out;
}

constexpr std::string_view kNvme = R"({"smartctl":{"exit_status":8},
  "device":{"name":"/dev/nvme1","type":"nvme","protocol":"NVMe"},"model_name":"X",
  "smart_status":{"passed":false},"power_on_time":{"hours":1000},
  "nvme_smart_health_information_log":{"critical_warning":4,"percentage_used":105,
    "data_units_written":18446744073709551615,"data_units_read":0,"media_errors":3}})";

TEST(Smart, NvmeReport) {
  MetricSink sink;
  const auto summary = write_smart(sink, kNvme);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->device, "nvme1");
  const std::string page = lines(sink);
  EXPECT_THAT(page, HasSubstr("smartctl_device_percentage_used{device=\"nvme1\"} 105\n"));
  EXPECT_THAT(page, HasSubstr("smartctl_device_smart_status{device=\"nvme1\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("vagt_nvme_endurance_seconds_left{device=\"nvme1\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("smartctl_device_bytes_written{device=\"nvme1\"} 9.44473"));
  EXPECT_THAT(page, Not(HasSubstr("bytes_read")));
}

TEST(Smart, MembersOfARaidHaveTheirOwnName) {
  MetricSink sink;
  const auto summary =
      write_smart(sink, R"({"device":{"name":"/dev/bus/0","type":"megaraid,3"},"model_name":"Y"})");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->device, "bus_0_megaraid_3");
}

TEST(Smart, ASleepingDiskAndOneThatCannotBeOpened) {
  MetricSink sink;
  auto summary = write_smart(sink, R"({"smartctl":{"exit_status":2,"messages":[{"string":
    "Device is in STANDBY mode"}]},"device":{"name":"/dev/sdb","type":"sat"}})");
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->asleep);
  summary = write_smart(sink, R"({"smartctl":{"exit_status":2,"messages":[{"string":
    "open device: /dev/sdb failed: Permission denied"}]},"device":{"name":"/dev/sdb"}})");
  EXPECT_THAT(summary, StatusIs(Code::Unavailable, "Permission denied"));
}

TEST(Smart, RubbishIsRefused) {
  for (const std::string_view text :
       {"", "{", "[]", "7", R"({"device":7})", R"({"device":{"name":[]}})", "\xff\xfe"}) {
    MetricSink sink;
    EXPECT_FALSE(write_smart(sink, text).ok()) << text;
    EXPECT_FALSE(write_ocp_log(sink, text, "nvme0").ok()) << text;
  }
  MetricSink sink;
  ASSERT_TRUE(write_smart(sink, R"({"device":{"name":"/dev/a"},"temperature":7,"model_name":3,
    "ata_smart_attributes":{"table":[1,{"id":"x"}]},"scsi_error_counter_log":[]})")
                  .ok());
  EXPECT_FALSE(parse_smart_scan("nothing").ok());
}

TEST(SmartCollector, ADiskThatFailsKeepsNoOtherBack) {
  FakeHost host;
  const std::string script = host.path("smartctl");
  host.file("smartctl",
            std::string("#!/bin/sh\n"
                        "case \"$*\" in\n"
                        "*--scan-open*) echo '{\"devices\":[{\"name\":\"/dev/sda\","
                        "\"type\":\"sat\",\"protocol\":\"ATA\"},{\"name\":\"/dev/nvme1\","
                        "\"type\":\"nvme\",\"protocol\":\"NVMe\"}]}';;\n"
                        "*sda*) exit 1;;\n"
                        "*) cat <<'X'\n") +
                std::string(kNvme) + "\nX\n;;\nesac\n");
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  host.filters().smartctl = script;
  const std::string page = host.run(make_smart);
  EXPECT_THAT(page, HasSubstr("smartctl_devices 2\n"));
  EXPECT_THAT(page, HasSubstr("smartctl_device_media_errors{device=\"nvme1\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("/dev/sda"));  // by name, in the failure
}

TEST(Containers, StatesCodesAndTimes) {
  MetricSink sink;
  ASSERT_TRUE(write_containers(sink, R"([{"Id":"a","Name":"/x","RestartCount":2,"State":{
    "Status":"exited","ExitCode":137,"OOMKilled":true,"StartedAt":"2026-11-19T01:59:30.5+01:00"},
    "Config":{"Image":"i"}},{"Id":"b","Name":"/y","State":{"Status":"created",
    "StartedAt":"0001-01-01T00:00:00Z","ExitCode":0}},{"Id":7},3])",
                               "docker")
                  .ok());
  const std::string page = lines(sink);
  EXPECT_THAT(page, HasSubstr("container_start_time_seconds{id=\"a\",image=\"i\",name=\"x\"} "
                              "1795049970.5\n"));
  EXPECT_THAT(page, HasSubstr("vagt_container_exit_code{name=\"x\"} 137\n"));
  EXPECT_THAT(page, HasSubstr("vagt_container_oom_killed{name=\"x\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("name=\"y\"} 0")));
  EXPECT_FALSE(write_containers(sink, "7", "docker").ok());
  EXPECT_FALSE(parse_container_list("{}").ok());
}

TEST(Containers, ASocketThatIsNotThere) {
  EXPECT_THAT(get_over_unix_socket("/nonexistent.sock", "/", std::chrono::milliseconds(100)),
              StatusIs(Code::NotFound));
}

TEST(ContainersCollector, CgroupsAloneTellMemoryAndCpu) {
  FakeHost host;
  host.filters().docker_socket = host.filters().podman_socket = "";
  EXPECT_THAT(host.run(make_containers), HasSubstr("no container runtime"));
  const std::string id(64, 'a');
  const std::string path = "sys/fs/cgroup/system.slice/docker-" + id + ".scope/";
  host.file(path + "memory.current", "4096\n").file(path + "cpu.stat", "usage_usec 2500000\n");
  const std::string page = host.run(make_containers);
  EXPECT_THAT(page, HasSubstr("container_memory_usage_bytes{id=\"" + id + "\"} 4096\n"));
  EXPECT_THAT(page, HasSubstr("container_cpu_usage_seconds_total{id=\"" + id + "\"} 2.5\n"));
}

}  // namespace
}  // namespace vagt::agent
