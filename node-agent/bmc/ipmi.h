// What ipmi-sensors, ipmitool and their SEL listings say of a server's power supplies, fans and
// sensors. Bad input gives fewer values, never a wrong number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vagt::agent {

// A sensor's state: 0 nominal, 1 warning, 2 critical.
struct IpmiSensor {
  std::string id, name, type;  // id in decimal; type as FreeIPMI names it
  std::string unit;            // C, RPM, %, V, A, W or ""
  std::optional<double> value, state;
  std::string events;  // what a discrete sensor asserts
};

// FreeIPMI's `ipmi-sensors --comma-separated-output --no-header-output --output-sensor-state`:
// id, name, type, state, reading, units, event.
std::vector<IpmiSensor> parse_ipmi_sensors(std::string_view text);
// `ipmitool sdr elist full`: name | id | status | entity | reading or events.
std::vector<IpmiSensor> parse_sdr_elist(std::string_view text);

// Bits of a power supply's status sensor (type 08h).
struct PsuStatus {
  bool present = false, failure = false, predictive = false, input_lost = false,
       out_of_range = false, configuration = false;
  bool ok() const {
    return present && !failure && !predictive && !input_lost && !out_of_range && !configuration;
  }
};
// nullopt: the text names no state of a power supply. A raw byte (`0x0b`) is decoded.
std::optional<PsuStatus> parse_psu_status(std::string_view events);
// 0 fully redundant, 1 degraded, 2 lost, 3 insufficient; the worst of those named.
std::optional<int> parse_redundancy(std::string_view events);

// Value behind `key :` in ipmitool's lists; "" when it is not there.
std::string_view ipmitool_value(std::string_view text, std::string_view key);
// First number behind `key :`.
std::optional<double> ipmitool_number(std::string_view text, std::string_view key);

struct SelEntry {
  uint32_t record = 0;
  std::string sensor_type, sensor, event;
  bool asserted = true;
};
// `ipmitool sel elist`.
std::vector<SelEntry> parse_sel(std::string_view text);
// An asserted event that someone should look at.
bool is_critical(const SelEntry& entry);

}  // namespace vagt::agent
