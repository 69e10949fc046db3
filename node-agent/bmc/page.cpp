#include "node-agent/bmc/page.h"

#include <algorithm>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

// Name of the supply: "PSU2 Status" is PSU2, "PS1 Status" is PS1, "Power Supply 1" stays.
std::string psu_name(std::string_view sensor) {
  for (const std::string_view end : {" Status", "_Status", " status"})
    if (sensor.size() > end.size() && sensor.substr(sensor.size() - end.size()) == end)
      sensor.remove_suffix(end.size());
  return std::string(sensor);
}

struct SensorFamily {
  std::string_view type, unit, value_name, value_help, state_name, state_help;
};
constexpr SensorFamily kSensorFamilies[] = {
    {"Temperature", "C", "ipmi_temperature_celsius", "Temperature reading in degree Celsius.",
     "ipmi_temperature_state",
     "Reported state of a temperature sensor (0=nominal, 1=warning, 2=critical)."},
    {"Fan", "RPM", "ipmi_fan_speed_rpm", "Fan speed in rotations per minute.",
     "ipmi_fan_speed_state",
     "Reported state of a fan speed sensor (0=nominal, 1=warning, 2=critical)."},
    {"Fan", "%", "ipmi_fan_speed_ratio", "Fan speed as a proportion of the maximum speed.",
     "ipmi_fan_speed_state",
     "Reported state of a fan speed sensor (0=nominal, 1=warning, 2=critical)."},
    {"Voltage", "V", "ipmi_voltage_volts", "Voltage reading in Volts.", "ipmi_voltage_state",
     "Reported state of a voltage sensor (0=nominal, 1=warning, 2=critical)."},
    {"Current", "A", "ipmi_current_amperes", "Current reading in Amperes.", "ipmi_current_state",
     "Reported state of a current sensor (0=nominal, 1=warning, 2=critical)."},
    {"", "W", "ipmi_power_watts", "Power reading in Watts.", "ipmi_power_state",
     "Reported state of a power sensor (0=nominal, 1=warning, 2=critical)."},
};

const SensorFamily* family_of(const IpmiSensor& sensor) {
  for (const SensorFamily& family : kSensorFamilies)
    if (sensor.unit == family.unit && (family.type.empty() || sensor.type == family.type))
      return &family;
  return nullptr;
}

void write_sensor(MetricSink& sink, const IpmiSensor& sensor) {
  const LabelView labels[] = {{"id", sensor.id}, {"name", sensor.name}};
  if (const SensorFamily* family = family_of(sensor)) {
    if (!sensor.value) return;  // no reading: neither value nor state
    sink.gauge(family->value_name, family->value_help)
        .add(labels, sensor.unit == "%" ? *sensor.value / 100 : *sensor.value);
    if (sensor.state) sink.gauge(family->state_name, family->state_help).add(labels, *sensor.state);
    return;
  }
  const LabelView typed[] = {{"id", sensor.id}, {"name", sensor.name}, {"type", sensor.type}};
  if (sensor.state)
    sink.gauge("ipmi_sensor_state",
               "Indicates the severity of the state reported by an IPMI sensor (0=nominal, "
               "1=warning, 2=critical).")
        .add(typed, *sensor.state);
  if (sensor.value)
    sink.gauge("ipmi_sensor_value", "Generic data read from an IPMI sensor of unknown type.")
        .add(typed, *sensor.value);
}

void write_fan(MetricSink& sink, const IpmiSensor& sensor, BmcMemory& memory) {
  if (sensor.type != "Fan" || !sensor.value) return;
  if (*sensor.value > 0) memory.turning_fans.insert(sensor.name);
  const bool stopped = *sensor.value == 0 && memory.turning_fans.contains(sensor.name);
  const bool critical = sensor.state && *sensor.state >= 2;
  sink.gauge("vagt_ipmi_fan_ok", "0: the fan is critical, or it stands and once turned.")
      .add({{"name", sensor.name}}, stopped || critical ? 0 : 1);
}

class PsuWriter {
 public:
  PsuWriter(MetricSink& sink, BmcMemory& memory, const PsuSettings& settings)
      : sink_(sink), memory_(memory), settings_(settings) {}

  void add(const IpmiSensor& sensor) {
    if (sensor.value || (sensor.type != "Power Supply" && sensor.type != "Power Unit")) return;
    if (const auto state = parse_redundancy(sensor.events)) {
      redundancy_ = std::max(redundancy_, *state);
      return;
    }
    const auto status = parse_psu_status(sensor.events);
    if (!status || sensor.type != "Power Supply") return;
    const std::string name = psu_name(sensor.name);
    const LabelView label[] = {{"psu", name}};
    sink_.gauge("vagt_psu_present", "1: the power supply is in its slot.")
        .add(label, status->present ? 1 : 0);
    sink_.gauge("vagt_psu_ok", "1: the power supply is there and reports no fault.")
        .add(label, status->ok() ? 1 : 0);
    sink_.gauge("vagt_psu_input_ok", "0: the power supply has no input.")
        .add(label, status->input_lost ? 0 : 1);
    ++known_;
    if (status->present) ++present_;
    if (status->ok()) ++ok_;
  }

  void finish() {
    if (redundancy_ != kUnknown || known_ > 0) write_redundancy();
    if (known_ == 0) return;
    memory_.most_psus = std::max(memory_.most_psus, present_);
    Family& counts = sink_.gauge("vagt_psu_count", "Power supplies: present, ok, expected.");
    counts.add({{"state", "present"}}, static_cast<double>(present_));
    counts.add({{"state", "ok"}}, static_cast<double>(ok_));
    if (settings_.expected || settings_.count_seen)
      counts.add({{"state", "expected"}},
                 settings_.expected.value_or(static_cast<double>(memory_.most_psus)));
    if (settings_.required)
      sink_
          .gauge(
              "vagt_psu_redundancy_margin",
              "Good power supplies beyond those required; below 1 the next failure is an outage.")
          .add(static_cast<double>(ok_) - *settings_.required);
  }

 private:
  // Without a redundancy sensor it follows from the counts, where it is known what is required.
  void write_redundancy() {
    if (redundancy_ == kUnknown && settings_.required) {
      const auto good = static_cast<double>(ok_);
      if (good < *settings_.required) {
        redundancy_ = 3;
      } else if (good == *settings_.required) {
        redundancy_ = 2;
      } else {
        redundancy_ = ok_ < std::max(memory_.most_psus, present_) ? 1 : 0;
      }
    }
    if (redundancy_ != kUnknown)
      sink_.gauge("vagt_psu_redundancy_state", "0 full, 1 degraded, 2 lost, 3 insufficient.")
          .add(redundancy_);
  }

  MetricSink& sink_;
  BmcMemory& memory_;
  const PsuSettings& settings_;
  static constexpr int kUnknown = -1;
  int redundancy_ = kUnknown;
  size_t known_ = 0, present_ = 0, ok_ = 0;
};

}  // namespace

void write_sensors(MetricSink& sink, const std::vector<IpmiSensor>& sensors, BmcMemory& memory,
                   const PsuSettings& settings) {
  PsuWriter psus(sink, memory, settings);
  for (const IpmiSensor& sensor : sensors) {
    write_sensor(sink, sensor);
    write_fan(sink, sensor, memory);
    psus.add(sensor);
  }
  psus.finish();
}

void add_critical_types(BmcMemory& memory) {
  for (const char* type : {"Critical Interrupt", "Drive Slot", "Event Logging Disabled", "Fan",
                           "Memory", "OS Critical Stop", "Power Supply", "Power Unit", "Processor",
                           "Temperature", "Voltage", "Watchdog"})
    memory.critical.try_emplace(type, 0);
}

void write_sel(MetricSink& sink, const BmcMemory& memory) {
  for (const auto& [type, count] : memory.critical)
    sink.counter("vagt_ipmi_sel_critical_total",
                 "Critical entries of the BMC's event log by sensor type.")
        .add({{"sensor_type", type}}, static_cast<double>(count));
  for (const auto& [type, entry] : memory.last)
    sink.gauge("vagt_ipmi_sel_last_info",
               "The last critical entry of each sensor type; the value is 1.")
        .add({{"direction", "asserted"},
              {"event", entry.event},
              {"record_id", std::to_string(entry.record)},
              {"sensor", entry.sensor},
              {"severity", "critical"},
              {"sensor_type", type}},
             1);
}

void write_chassis(MetricSink& sink, std::string_view status) {
  const auto state = [&](std::string_view key, std::string_view good, std::string_view name,
                         std::string_view help) {
    const std::string_view value = ipmitool_value(status, key);
    if (!value.empty()) sink.gauge(name, help).add(value == good ? 1 : 0);
  };
  state("System Power", "on", "ipmi_chassis_power_state", "Current power state (1=on, 0=off).");
  // 1 is no fault, as ipmi_exporter has it.
  state("Drive Fault", "false", "ipmi_chassis_drive_fault_state",
        "Current drive fault state (1=false, 0=true).");
  state("Cooling/Fan Fault", "false", "ipmi_chassis_cooling_fault_state",
        "Current Cooling/fan fault state (1=false, 0=true).");
}

void write_dcmi(MetricSink& sink, std::string_view reading) {
  if (const auto watts = ipmitool_number(reading, "Instantaneous power reading"))
    sink.gauge("ipmi_dcmi_power_consumption_watts", "Current power consumption in Watts.")
        .add(*watts);
}

void write_sel_info(MetricSink& sink, std::string_view info) {
  if (const auto entries = ipmitool_number(info, "Entries"))
    sink.gauge("ipmi_sel_logs_count", "Current number of log entries in the SEL.").add(*entries);
  if (const auto bytes = ipmitool_number(info, "Free Space"))
    sink.gauge("ipmi_sel_free_space_bytes", "Current free space remaining for new SEL entries.")
        .add(*bytes);
}

void write_bmc_info(MetricSink& sink, std::string_view info) {
  const std::string_view firmware = ipmitool_value(info, "Firmware Revision");
  if (firmware.empty()) return;
  sink.gauge("ipmi_bmc_info", "Constant metric with value '1' providing details about the BMC.")
      .add({{"firmware_revision", firmware},
            {"manufacturer_id", ipmitool_value(info, "Manufacturer ID")},
            {"system_firmware_version", "N/A"}},
           1);
}

void BmcMemory::take(const std::vector<SelEntry>& log) {
  uint32_t highest = 0;
  for (const SelEntry& entry : log) highest = std::max(highest, entry.record);
  if (highest < last_record) last_record = 0;
  for (const SelEntry& entry : log) {
    if (entry.record <= last_record || !is_critical(entry)) continue;
    ++critical[entry.sensor_type];
    last[entry.sensor_type] = entry;
  }
  last_record = highest;
}

std::string BmcMemory::save() const {
  std::string out = "record\t" + std::to_string(last_record) + '\n';
  out += "psus\t" + std::to_string(most_psus) + '\n';
  for (const auto& [type, count] : critical)
    out += "critical\t" + type + '\t' + std::to_string(count) + '\n';
  for (const std::string& fan : turning_fans) out += "fan\t" + fan + '\n';
  return out;
}

void BmcMemory::load(std::string_view text) {
  std::string_view line;
  while (next_line(text, line)) {
    std::string_view field[3];
    for (std::string_view& f : field) {
      const size_t tab = line.find('\t');
      f = line.substr(0, tab);
      line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
    }
    const auto number = [&field](size_t i) { return to_uint(field[i]).value_or(0); };
    if (field[0] == "record") last_record = static_cast<uint32_t>(number(1));
    if (field[0] == "psus") most_psus = number(1);
    if (field[0] == "critical") critical[std::string(field[1])] = number(2);
    if (field[0] == "fan") turning_fans.emplace(field[1]);
  }
}

}  // namespace vagt::agent
