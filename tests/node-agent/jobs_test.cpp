// Whose processes hold a GPU, the exporter's other names, and letting go of the driver.
#include "node-agent/gpu/jobs.h"

#include "node-agent/gpu/smi.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kId(64, 'a');

TEST(GpuJobs, WhatACgroupSays) {
  EXPECT_EQ(parse_job_cgroup("0::/system.slice/trainer.service\n").unit, "trainer.service");
  const GpuJob slurm = parse_job_cgroup(
      "12:devices:/slurm/uid_1000/job_4242/step_0\n0::/system.slice/slurmstepd.scope/job_4242/x\n");
  EXPECT_EQ(slurm.slurm_job, "4242");
  EXPECT_EQ(parse_job_cgroup("0::/system.slice/docker-" + kId + ".scope\n").container,
            "aaaaaaaaaaaa");
  const GpuJob pod = parse_job_cgroup(
      "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c3d4e_1111_2222_3333_"
      "444455556666.slice/cri-containerd-" +
      kId + ".scope\n");
  EXPECT_EQ(pod.pod, "1b2c3d4e-1111-2222-3333-444455556666");
  EXPECT_EQ(pod.container, "aaaaaaaaaaaa");
  EXPECT_EQ(parse_job_cgroup("4:cpu:/kubepods/burstable/pod1b2c3d4e-1111-2222-3333-444455556666/" +
                             kId + "\n")
                .pod,
            "1b2c3d4e-1111-2222-3333-444455556666");
  for (const std::string bad : {"", "no colons", "0::", "::", "0::/job_x/pod/docker-1.scope"})
    EXPECT_EQ(parse_job_cgroup(bad), GpuJob()) << bad;
}

std::string lines(const MetricSink& sink) {
  std::string out;
  for (const auto& entry : sink.families()) out += entry.second.lines();
  return out;
}

TEST(GpuJobs, AreAddedUpByWhomTheyBelongTo) {
  FakeHost host;
  host.file("etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n");
  for (const char* pid : {"7", "8"})
    host.file(std::string("proc/") + pid + "/cgroup", "0::/system.slice/train.service\n")
        .file(std::string("proc/") + pid + "/status",
              "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\n");
  GpuReading gpu;
  gpu.uuid = "GPU-1";
  gpu.process_list = {{7, 100.0}, {8, 50.0}, {9, std::nullopt}};  // 9 has ended meanwhile
  MetricSink sink;
  GpuJobs(host.sources()).write(sink, {gpu});
  EXPECT_THAT(lines(sink), AllOf(HasSubstr("unit=\"train.service\",user=\"alice\"} 2\n"),
                                 HasSubstr("unit=\"train.service\",user=\"alice\"} 150\n"),
                                 HasSubstr("unit=\"\",user=\"\"} 1\n")));
}

TEST(GpuJobs, AreBounded) {
  FakeHost host;
  GpuReading gpu;
  for (unsigned pid = 1; pid <= 100; ++pid) {
    host.file("proc/" + std::to_string(pid) + "/cgroup", "0::/x/job_" + std::to_string(pid) + "\n");
    gpu.process_list.push_back({pid, std::nullopt});
  }
  MetricSink sink;
  GpuJobs(host.sources()).write(sink, {gpu});
  EXPECT_EQ(sink.samples(), 65u);
  EXPECT_THAT(lines(sink), HasSubstr("user=\"other\"} 36\n"));
}

TEST(GpuAliases, TheSameValuesUnderTheOtherExportersNames) {
  const auto snapshot = parse_smi_csv(
      "index, uuid, name, temperature.gpu, power.draw [W], utilization.gpu [%], memory.used [MiB], "
      "clocks.current.graphics [MHz], clocks_event_reasons.active\n"
      "0, GPU-abc, NVIDIA H100, 41, 69.85 W, 50 %, 2 MiB, 1980 MHz, 0x40\n"
      "1, GPU-def, NVIDIA H100, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], x, "
      "x\n");
  ASSERT_TRUE(snapshot.ok());
  MetricSink sink;
  write_smi_aliases(sink, *snapshot);
  EXPECT_THAT(
      lines(sink),
      AllOf(HasSubstr("nvidia_smi_temperature_gpu{uuid=\"abc\"} 41\n"),
            HasSubstr("nvidia_smi_power_draw_watts{uuid=\"abc\"} 69.85\n"),
            HasSubstr("nvidia_smi_utilization_gpu_ratio{uuid=\"abc\"} 0.5\n"),
            HasSubstr("nvidia_smi_memory_used_bytes{uuid=\"abc\"} 2097152\n"),
            HasSubstr("nvidia_smi_clocks_current_graphics_clock_hz{uuid=\"abc\"} 1980000000\n"),
            HasSubstr("hw_thermal_slowdown{uuid=\"abc\"} 1\n"), Not(HasSubstr("def"))));
}

TEST(GpuRelease, StandsBackUntilThen) {
  FakeHost host;
  host.file("smi.csv", "index, uuid, temperature.gpu\n0, GPU-a, 41\n");
  host.sources().fixtures.nvidia_smi = host.path("smi.csv");
  const CollectorPtr gpu = make_gpu(host.sources(), host.filters());
  EXPECT_THAT(host.run(*gpu), HasSubstr("vagt_gpu_up"));
  host.sources().gpus->release_until(host.clock().now() + std::chrono::seconds(300));
  const std::string page = host.run(*gpu);
  EXPECT_THAT(page, HasSubstr("vagt_gpu_released_until_seconds"));
  EXPECT_THAT(page, Not(HasSubstr("vagt_gpu_up")));  // nobody is lost
  host.clock().advance(std::chrono::seconds(301));
  EXPECT_THAT(host.run(*gpu), HasSubstr("vagt_gpu_up"));
}

}  // namespace
}  // namespace vagt::agent
