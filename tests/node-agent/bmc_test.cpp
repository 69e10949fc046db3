#include "node-agent/bmc/page.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(const std::vector<IpmiSensor>& sensors, BmcMemory& memory,
                    PsuSettings settings = {}) {
  MetricSink sink;
  write_sensors(sink, sensors, memory, settings);
  write_sel(sink, memory);
  std::string out;
  for (const auto& entry : sink.families()) out += entry.second.lines();
  return out;
}

TEST(Ipmi, SensorsOfBothTools) {
  const auto free = parse_ipmi_sensors(
      "1,CPU1 Temp,Temperature,Nominal,61.00,C,'OK'\n"
      "32,GPU1 Temp,Temperature,N/A,N/A,C,N/A\n"
      "97,PSU2 Status,Power Supply,Critical,N/A,N/A,'Presence detected' 'Power Supply input lost "
      "(AC/DC)'\n"
      "rubbish\n,,,\n");
  ASSERT_EQ(free.size(), 3u);
  EXPECT_EQ(free[0].value, 61);
  EXPECT_EQ(free[0].state, 0);
  EXPECT_EQ(free[1].value, std::nullopt);
  EXPECT_EQ(free[2].state, 2);
  const auto tool = parse_sdr_elist(
      "FAN10            | 4Ah | ok  | 29.10 | 15100 RPM\n"
      "FAN11            | 4Bh | ns  | 29.11 | No Reading\n"
      "PSU2 Status      | 61h | ok  | 10.2 | Presence detected, Power Supply AC lost\n"
      "cut |\n");
  ASSERT_EQ(tool.size(), 3u);
  EXPECT_EQ(tool[0].id, "74");
  EXPECT_EQ(tool[0].unit, "RPM");
  EXPECT_EQ(tool[1].value, std::nullopt);
  EXPECT_EQ(tool[2].type, "Power Supply");
  EXPECT_EQ(tool[2].state, 2);  // by what it asserts: its status column says ok whatever happens
}

TEST(Ipmi, PsuBitsAreDecodedFromTextAndFromTheRawByte) {
  EXPECT_TRUE(parse_psu_status("Presence detected")->ok());
  EXPECT_FALSE(parse_psu_status("Presence detected, Failure detected")->ok());
  const auto raw = parse_psu_status("0x0b");
  ASSERT_TRUE(raw);
  EXPECT_TRUE(raw->present && raw->failure && raw->input_lost && !raw->predictive);
  EXPECT_FALSE(parse_psu_status("0x00")->present);
  EXPECT_FALSE(parse_psu_status("OK"));
  EXPECT_FALSE(parse_psu_status("0xzz"));
}

TEST(Ipmi, TheWorstRedundancyCounts) {
  EXPECT_EQ(parse_redundancy("Fully Redundant"), 0);
  EXPECT_EQ(parse_redundancy("Redundancy Degraded"), 1);
  EXPECT_EQ(parse_redundancy("'Redundancy Lost' 'Non-redundant:Sufficient Resources'"), 2);
  EXPECT_EQ(parse_redundancy("Non-Redundant: Insufficient Resources"), 3);
  EXPECT_EQ(parse_redundancy("Presence detected"), std::nullopt);
}

TEST(Ipmi, PsuCountsAndMargin) {
  BmcMemory memory;
  const auto sensors = parse_sdr_elist(
      "PS1 Status | 60h | ok | 10.1 | Presence detected\n"
      "PS2 Status | 61h | ok | 10.2 | Presence detected\n"
      "PS3 Status | 62h | ok | 10.3 | Presence detected, Power Supply AC lost\n"
      "PS4 Status | 63h | ok | 10.4 | 0x00\n");
  PsuSettings settings;
  settings.required = 2;
  const std::string page = page_of(sensors, memory, settings);
  EXPECT_THAT(page, HasSubstr("vagt_psu_count{state=\"present\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("vagt_psu_count{state=\"ok\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("vagt_psu_count{state=\"expected\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("vagt_psu_redundancy_margin 0\n"));
  EXPECT_THAT(page, HasSubstr("vagt_psu_redundancy_state 2\n"));
  EXPECT_THAT(page, HasSubstr("vagt_psu_input_ok{psu=\"PS3\"} 0\n"));
}

TEST(Ipmi, AFanThatStopsIsNotOk) {
  BmcMemory memory;
  EXPECT_THAT(page_of(parse_sdr_elist("F1 | 41h | ok | 29.1 | 0 RPM\n"), memory),
              HasSubstr("vagt_ipmi_fan_ok{name=\"F1\"} 1\n"));  // it may rest
  page_of(parse_sdr_elist("F1 | 41h | ok | 29.1 | 900 RPM\n"), memory);
  EXPECT_THAT(page_of(parse_sdr_elist("F1 | 41h | ok | 29.1 | 0 RPM\n"), memory),
              HasSubstr("vagt_ipmi_fan_ok{name=\"F1\"} 0\n"));
}

TEST(Ipmi, EachCriticalRecordCountsOnceOverRestartsAndClears) {
  const std::string_view log =
      "   1 | Pre-Init  |0000000012| System Event #0x01 | Timestamp Clock Sync | Asserted\n"
      "   2 | 11/19/2026 | 00:01:09 | Memory Memory | Uncorrectable ECC (DIMMB1) | Asserted\n"
      "   9 | 11/19/2026 | 00:30:00 | Temperature Inlet | Upper Critical going high | Asserted\n"
      "   a | 11/19/2026 | 00:42:00 | Temperature Inlet | Upper Critical going high | Deasserted\n";
  BmcMemory memory;
  memory.take(parse_sel(log));
  memory.take(parse_sel(log));
  EXPECT_EQ(memory.critical.at("Memory"), 1u);
  EXPECT_EQ(memory.critical.at("Temperature"), 1u);
  EXPECT_EQ(memory.last_record, 10u);
  BmcMemory after;
  after.load(memory.save());
  after.take(parse_sel(log));
  EXPECT_EQ(after.critical.at("Memory"), 1u);
  after.take(parse_sel(
      "   1 | 11/20/2026 | 00:01:09 | Memory Memory | Uncorrectable ECC (DIMMB1) | Asserted\n"));
  EXPECT_EQ(after.critical.at("Memory"), 2u);
}

TEST(Ipmi, RubbishGivesNothing) {
  for (const std::string_view text : {"", "|||||", "\x00|\xff|", "a|zzh|ok|1|2 RPM", ",,,,,,"}) {
    BmcMemory memory;
    EXPECT_EQ(page_of(parse_sdr_elist(text), memory), "");
    EXPECT_EQ(page_of(parse_ipmi_sensors(text), memory), "");
    EXPECT_TRUE(parse_sel(text).empty());
  }
}

TEST(IpmiCollector, WithoutADeviceThereIsNoBmc) {
  FakeHost host;
  EXPECT_THAT(host.run(make_ipmi), HasSubstr("no BMC at"));
}

TEST(Ipmi, CriticalCountersBeginAtZero) {
  BmcMemory memory;
  add_critical_types(memory);
  EXPECT_THAT(page_of({}, memory),
              HasSubstr("vagt_ipmi_sel_critical_total{sensor_type=\"Power Supply\"} 0\n"));
  memory.take(
      parse_sel("1 | 11/19/2026 | 00:01:09 | Drive Slot / Bay HDD3 | Drive Fault | Asserted\n"));
  EXPECT_THAT(page_of({}, memory),
              HasSubstr("vagt_ipmi_sel_critical_total{sensor_type=\"Drive Slot\"} 1\n"));
}

}  // namespace
}  // namespace vagt::agent
