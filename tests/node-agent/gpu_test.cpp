#include "node-agent/gpu/smi.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SmiCells, NumbersAndWhatIsNone) {
  EXPECT_EQ(smi_number("630.25 W"), 630.25);
  EXPECT_EQ(smi_number("16x"), 16);
  EXPECT_EQ(smi_number("P8"), 8);
  EXPECT_EQ(smi_number("Yes"), 1);
  EXPECT_EQ(smi_number("0x0000000000000021"), 33);
  EXPECT_EQ(smi_number(" 98 % "), 98);
  for (const char* none : {"", "N/A", "[N/A]", "[Not Supported]", "ERR!", "[Unknown Error]", "P",
                           "x", "0x", "[Requested functionality has been deprecated]",
                           "[GPU is lost]", "nan", "inf", "18446744073709551615", "4294967295"})
    EXPECT_EQ(smi_number(none), std::nullopt) << none;
}

constexpr std::string_view kCsv =
    "index, uuid, name, pci.bus_id, driver_version, temperature.gpu, power.draw [W], pstate\n"
    "0, GPU-a, NVIDIA X, 00000000:1B:00.0, 570.1, 58, 630.25 W, P0\n"
    "1, GPU-b, NVIDIA X, 00000000:43:00.0, 570.1, [GPU is lost], [GPU is lost], [GPU is lost]\n"
    "Unable to determine the device handle for GPU2\n";

TEST(SmiCsv, ColumnsByHeader) {
  const auto snapshot = parse_smi_csv(kCsv);
  ASSERT_TRUE(snapshot.ok());
  ASSERT_EQ(snapshot->gpus.size(), 2u);
  EXPECT_EQ(snapshot->driver_version, "570.1");
  EXPECT_EQ(snapshot->gpus[0][GpuField::PowerUsage], 630.25);
  EXPECT_EQ(snapshot->gpus[0][GpuField::GpuUtil], std::nullopt);
  EXPECT_TRUE(snapshot->gpus[0].up);
  EXPECT_EQ(snapshot->gpus[1].error, kGpuIsLost);
}

TEST(SmiCsv, RefusesWhatIsNone) {
  for (const char* text :
       {"", "No devices were found\n", "index, uuid\n", "index, uuid\nx, GPU-a\n"})
    EXPECT_THAT(parse_smi_csv(text), StatusIs(Code::InvalidArgument)) << text;
}

constexpr std::string_view kXml =
    "<?xml version=\"1.0\" ?><!DOCTYPE x SYSTEM \"nvsmi_device_v12.dtd\"><nvidia_smi_log>"
    "<driver_version>535.54</driver_version><gpu id=\"00000000:01:00.0\">"
    "<product_name>NVIDIA A</product_name><uuid>GPU-a</uuid><minor_number>3</minor_number>"
    "<temperature><gpu_temp>27 C</gpu_temp><gpu_temp_max_gpu_threshold>85 "
    "C</gpu_temp_max_gpu_threshold>"
    "</temperature><ecc_errors><volatile><sram_correctable>1</sram_correctable>"
    "<dram_correctable>2</dram_correctable><dram_uncorrectable>N/A</dram_uncorrectable></"
    "volatile></ecc_errors>"
    "<mig_devices><mig_device><gpu_instance_id>5</gpu_instance_id><fb_memory_usage><used>12 "
    "MiB</used>"
    "</fb_memory_usage></mig_device></mig_devices>"
    "<processes><process_info><pid>1</pid></process_info><process_info><pid>2</pid></"
    "process_info></processes>"
    "</gpu></nvidia_smi_log>";

TEST(SmiXml, PathsSumsAndInstances) {
  const auto snapshot = parse_smi_xml(kXml);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const GpuReading& gpu = snapshot->gpus.at(0);
  EXPECT_EQ(gpu.pci_bus_id, "00000000:01:00.0");
  EXPECT_EQ(gpu.device, "nvidia3");
  EXPECT_EQ(gpu[GpuField::EccSbeVolatile], 3);
  EXPECT_EQ(gpu[GpuField::EccDbeVolatile], std::nullopt);  // none said, so not 0
  EXPECT_EQ(gpu.temperature_margin, 58);
  EXPECT_EQ(gpu.processes, 2);
  ASSERT_EQ(gpu.mig.size(), 1u);
  EXPECT_EQ(gpu.mig[0].fb_used, 12);
}

TEST(SmiXml, RefusesCutAndHostileDocuments) {
  EXPECT_THAT(parse_smi_xml(kXml.substr(0, kXml.size() - 10)), StatusIs(Code::InvalidArgument));
  EXPECT_THAT(parse_smi_xml("<a><b></a></b>"), StatusIs(Code::InvalidArgument, "cross"));
  EXPECT_THAT(parse_smi_xml("Failed to initialize NVML"), StatusIs(Code::InvalidArgument));
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<nvidia_smi_log>";
  EXPECT_THAT(parse_smi_xml(deep), StatusIs(Code::InvalidArgument, "deep"));
  // Every prefix of a good one ends in an answer.
  for (size_t n = 0; n < kXml.size(); ++n) EXPECT_FALSE(parse_smi_xml(kXml.substr(0, n)).ok());
}

TEST(SmiNvlink, StatusAndErrors) {
  GpuSnapshot snapshot;
  read_nvlink_status(
      "GPU 2: NVIDIA H100 (UUID: GPU-c)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
      "\t Link x: 1\n\t Link 2: rubbish\n",
      snapshot);
  read_nvlink_errors(
      "GPU 2: NVIDIA H100 (UUID: GPU-c)\n\t Link 0: Replay Errors: 8\n"
      "\t Link 9: CRC Errors: 1\n\t Link 0:\n",
      snapshot);
  ASSERT_EQ(snapshot.gpus.size(), 1u);
  const auto& links = snapshot.gpus[0].nvlinks;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_TRUE(links[0].up);
  EXPECT_EQ(links[0].errors.at("replay"), 8);
  EXPECT_FALSE(links[1].up);
  EXPECT_EQ(snapshot.gpus[0][GpuField::NvlinkReplay], 8);
}

TEST(GpuCollector, ALostGpuHasNoSamplesButIsDown) {
  FakeHost host;
  host.file("smi.csv", std::string(kCsv));
  host.sources().fixtures.nvidia_smi = host.path("smi.csv");
  host.sources().fixtures.hostname = "node-1";
  const std::string page = host.run(make_gpu);
  EXPECT_THAT(
      page, HasSubstr("vagt_gpu_up{UUID=\"GPU-b\",gpu=\"1\",pci_bus_id=\"00000000:43:00.0\"} 0\n"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "vagt_gpu_error_code{UUID=\"GPU-b\",gpu=\"1\",pci_bus_id=\"00000000:43:00.0\"} 15\n"));
  EXPECT_THAT(page,
              HasSubstr("DCGM_FI_DEV_GPU_TEMP{DCGM_FI_DRIVER_VERSION=\"570.1\",Hostname=\"node-1\","
                        "UUID=\"GPU-a\",device=\"nvidia0\",gpu=\"0\",modelName=\"NVIDIA X\","
                        "pci_bus_id=\"00000000:1B:00.0\"} 58\n"));
  EXPECT_THAT(page, Not(HasSubstr("DCGM_FI_DEV_GPU_TEMP{DCGM_FI_DRIVER_VERSION=\"570.1\",Hostname="
                                  "\"node-1\",UUID=\"GPU-b\"")));
}

TEST(GpuFamilies, TheTableIsInTheOrderOfTheFields) {
  for (size_t i = 0; i < kGpuFamilies.size(); ++i)
    EXPECT_EQ(static_cast<size_t>(kGpuFamilies[i].field), i) << kGpuFamilies[i].name;
}

}  // namespace
}  // namespace vagt::agent
