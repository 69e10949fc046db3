#include <dlfcn.h>

#include "node-agent/gpu/nvml_source.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;
using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class Nvml : public ::testing::Test {
 protected:
  Nvml() : library_(dlopen(FAKE_NVML, RTLD_NOW)) {
    set_ = reinterpret_cast<void (*)(int, int, int, unsigned)>(dlsym(library_, "fake_set"));
    set_(0, 0, 0, 4);
    options_.library = FAKE_NVML;
    options_.call_deadline = 50ms;
  }
  ~Nvml() override { set_(0, 0, 0, 4); }  // whoever hangs, goes on

  void* library_;
  void (*set_)(int hanging, int init, int count, unsigned gpus) = nullptr;
  NvmlSource::Options options_;
};

TEST_F(Nvml, ReadsWhatEachCardHas) {
  NvmlSource source(options_);
  const auto snapshot = source.read();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_EQ(snapshot->driver_version, "570.133.20");
  EXPECT_EQ(snapshot->cuda_version, "12.8");
  ASSERT_EQ(snapshot->gpus.size(), 4u);
  const GpuReading& h100 = snapshot->gpus[0];
  EXPECT_EQ(h100.uuid, "GPU-0");
  EXPECT_EQ(h100[GpuField::GpuTemp], 41);
  EXPECT_EQ(h100[GpuField::PowerUsage], 69.85);
  EXPECT_EQ(h100[GpuField::FbReserved], 79);
  EXPECT_EQ(h100[GpuField::FbUsed], 21);
  EXPECT_EQ(h100[GpuField::EccSbeVolatile], 5);
  EXPECT_EQ(h100[GpuField::MemoryTemp], 48);
  EXPECT_EQ(h100[GpuField::ThermalViolation], 2.5e9);
  EXPECT_EQ(h100.throttle_seconds.at("hw_thermal"), 0.5);
  ASSERT_EQ(h100.nvlinks.size(), 3u);
  EXPECT_FALSE(h100.nvlinks[1].up);
  EXPECT_EQ(h100[GpuField::FanSpeed], std::nullopt);  // the library has no such function
  const GpuReading& rtx = snapshot->gpus[1];
  EXPECT_TRUE(rtx.up);
  EXPECT_EQ(rtx[GpuField::EccSbeVolatile], std::nullopt);
  EXPECT_EQ(rtx[GpuField::MemoryTemp], std::nullopt);
  EXPECT_EQ(snapshot->gpus[3].error, kGpuIsLost);
  EXPECT_FALSE(snapshot->gpus[3].up);
}

TEST_F(Nvml, AHangingGpuDelaysNobodyAndRecovers) {
  NvmlSource source(options_);
  ASSERT_TRUE(source.read().ok());
  set_(1, 0, 0, 4);
  for (int round = 0; round < 2; ++round) {
    const auto snapshot = source.read();
    ASSERT_TRUE(snapshot.ok());
    EXPECT_EQ(snapshot->gpus[2].error, kGpuDeadline);
    EXPECT_EQ(snapshot->gpus[2].uuid, "GPU-2");  // who it was
    EXPECT_EQ(snapshot->gpus[2][GpuField::GpuTemp], std::nullopt);
    EXPECT_TRUE(snapshot->gpus[0].up);
  }
  set_(0, 0, 0, 4);
  auto snapshot = source.read();
  while (snapshot.ok() && !snapshot->gpus[2].up) snapshot = source.read();
  EXPECT_EQ(snapshot->gpus[2][GpuField::GpuTemp], 41);
}

TEST_F(Nvml, ADriverThatGoesAwayIsOpenedAnew) {
  NvmlSource source(options_);
  ASSERT_TRUE(source.read().ok());
  set_(0, 0, 1, 4);
  EXPECT_THAT(source.read(), StatusIs(Code::Unavailable, "nvmlDeviceGetCount_v2 returned 1"));
  set_(0, 18, 0, 4);
  EXPECT_THAT(source.read(), StatusIs(Code::Unavailable, "nvmlInit_v2 returned 18"));
  EXPECT_TRUE(source.driver_mismatch());
  set_(0, 0, 0, 4);
  EXPECT_TRUE(source.read().ok());
  EXPECT_FALSE(source.driver_mismatch());
}

TEST_F(Nvml, NoLibrary) {
  options_.library = "libvagt-no-such.so.1";
  NvmlSource source(options_);
  EXPECT_THAT(source.read(), StatusIs(Code::NotFound));
  options_.library = "libc.so.6";
  NvmlSource other(options_);
  EXPECT_THAT(other.read(), StatusIs(Code::NotFound, "is no NVML"));
}

TEST_F(Nvml, CollectorKeepsAGpuThatVanished) {
  FakeHost host;
  host.sources().nvml_library = FAKE_NVML;
  const CollectorPtr collector = make_gpu(host.sources(), host.filters());
  EXPECT_THAT(host.run(*collector), HasSubstr("vagt_gpu_count{source=\"nvml\"} 4\n"));
  set_(0, 0, 0, 1);
  const std::string page = host.run(*collector);
  EXPECT_THAT(
      page, HasSubstr("vagt_gpu_up{UUID=\"GPU-1\",gpu=\"1\",pci_bus_id=\"00000000:11:00.0\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("vagt_gpu_count{source=\"nvml\"} 1\n"));
  EXPECT_THAT(
      page, HasSubstr("vagt_gpu_up{UUID=\"GPU-0\",gpu=\"0\",pci_bus_id=\"00000000:10:00.0\"} 1\n"));
}

TEST_F(Nvml, MigInstancesHaveMemoryAndAProfile) {
  set_(0, 0, 0, 5);
  NvmlSource source(options_);
  const auto snapshot = source.read();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_TRUE(snapshot->gpus[0].mig.empty());
  const GpuReading& gpu = snapshot->gpus[4];
  EXPECT_EQ(gpu.uuid, "GPU-4");  // not an instance's
  ASSERT_EQ(gpu.mig.size(), 2u);
  EXPECT_EQ(gpu.mig[0].uuid, "MIG-a");
  EXPECT_EQ(gpu.mig[1].gpu_instance_id, "2");
  EXPECT_EQ(gpu.mig[1].profile, "3g.40gb");
  EXPECT_EQ(gpu.mig[1].fb_used, 21);
}

TEST_F(Nvml, GpmNeedsTwoSamplesAndACardThatHasIt) {
  options_.gpm = options_.pcie_throughput = true;
  NvmlSource source(options_);
  auto snapshot = source.read();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->gpus[0][GpuField::ProfTensor], std::nullopt);
  EXPECT_EQ(snapshot->gpus[0][GpuField::ProfPcieTx], 1.5e6);
  snapshot = source.read();
  EXPECT_EQ(snapshot->gpus[0][GpuField::ProfTensor], 0.05);
  EXPECT_EQ(snapshot->gpus[0][GpuField::ProfFp16], std::nullopt);  // it said not supported
  EXPECT_EQ(snapshot->gpus[1][GpuField::ProfTensor], std::nullopt);
}

TEST_F(Nvml, AGpuThatVanishedIsMissedAfterARestartToo) {
  FakeHost host;
  host.sources().nvml_library = FAKE_NVML;
  host.file("proc/sys/kernel/random/boot_id", "boot-1\n");
  host.run(make_gpu);
  set_(0, 0, 0, 1);
  const std::string page = host.run(make_gpu);
  EXPECT_THAT(page,
              HasSubstr("vagt_gpu_up{UUID=\"GPU-1\",gpu=\"1\",pci_bus_id=\"00000000:11:00.0\"} 0"));
  EXPECT_THAT(
      page,
      HasSubstr("vagt_gpu_health{UUID=\"GPU-1\",gpu=\"1\",pci_bus_id=\"00000000:11:00.0\"} 3"));
  EXPECT_THAT(page,
              HasSubstr("vagt_gpu_count{source=\"expected\"} 3"));  // the lost one has no name
  host.file("proc/sys/kernel/random/boot_id", "boot-2\n");
  EXPECT_THAT(host.run(make_gpu), Not(HasSubstr("GPU-1")));
  host.filters().gpus_expected = 8;
  EXPECT_THAT(host.run(make_gpu), HasSubstr("vagt_gpu_count{source=\"expected\"} 8"));
}

TEST_F(Nvml, HealthFollowsXidsAndReadings) {
  FakeHost host;
  host.sources().nvml_library = FAKE_NVML;
  host.clock().set(from_millis(1'000'000'000));
  const CollectorPtr collector = make_gpu(host.sources(), host.filters());
  const auto health = [&](const std::string& gpu) {
    const std::string page = host.run(*collector);
    const size_t at = page.find("vagt_gpu_health{UUID=\"" + gpu + "\"");
    return at == std::string::npos ? '?' : page[page.find("} ", at) + 2];
  };
  EXPECT_EQ(health("GPU-0"), '0');  // a link that is down, but never was up
  EXPECT_EQ(health("GPU-1"), '0');
  GpuDirectory::Xids xids;
  xids.last_ticket = host.clock().now();
  host.sources().gpus->set_xids("0000:11:00", xids);
  EXPECT_EQ(health("GPU-1"), '1');
  host.clock().advance(std::chrono::hours(2));
  EXPECT_EQ(health("GPU-1"), '0');
  xids.last_page = host.clock().now();
  host.sources().gpus->set_xids("0000:11:00.0", xids);
  EXPECT_EQ(health("GPU-1"), '2');
}

TEST(GpuDirectory, OneFormOfAddress) {
  EXPECT_EQ(GpuDirectory::normal("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(GpuDirectory::normal("0000:1b:00"), "0000:1b:00.0");
  EXPECT_EQ(GpuDirectory::normal(""), "");
}

}  // namespace
}  // namespace vagt::agent
