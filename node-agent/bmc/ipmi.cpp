#include "node-agent/bmc/ipmi.h"

#include <algorithm>
#include <charconv>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxSensors = 2000;
constexpr size_t kMaxEntries = 20'000;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Takes the next field up to `separator`, trimmed, off `rest`.
std::string_view next_field(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view field = trim(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

std::optional<uint32_t> hex(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> state_of(std::string_view text) {
  if (text == "Nominal" || text == "ok") return 0;
  if (text == "Warning" || text == "nc") return 1;
  if (text == "Critical" || text == "cr" || text == "nr") return 2;
  return std::nullopt;
}

// ipmitool spells units out.
struct Unit {
  std::string_view text, unit, type;
};
constexpr Unit kUnits[] = {{"degrees C", "C", "Temperature"}, {"RPM", "RPM", "Fan"},
                           {"percent", "%", "Fan"},           {"Volts", "V", "Voltage"},
                           {"Amps", "A", "Current"},          {"Watts", "W", "Power Supply"}};

// Entity ids of the IPMI specification; ipmitool names no sensor types here.
std::string_view type_of_entity(std::string_view entity) {
  if (entity == "10") return "Power Supply";
  if (entity == "21" || entity == "19") return "Power Unit";
  if (entity == "29" || entity == "30") return "Fan";
  if (entity == "32" || entity == "8") return "Memory";
  if (entity == "3") return "Processor";
  if (entity == "4" || entity == "26") return "Drive Slot";
  if (entity == "23") return "Physical Security";
  return "Other";
}

void take_reading(std::string_view reading, IpmiSensor& sensor) {
  std::string_view rest = reading;
  const auto number = to_number(next_word(rest));
  for (const Unit& unit : kUnits)
    if (number && trim(rest) == unit.text) {
      sensor.value = number;
      sensor.unit = unit.unit;
      sensor.type = unit.type;
      return;
    }
  sensor.events = reading;
}

}  // namespace

std::vector<IpmiSensor> parse_ipmi_sensors(std::string_view text) {
  std::vector<IpmiSensor> sensors;
  std::string_view line;
  while (next_line(text, line) && sensors.size() < kMaxSensors) {
    IpmiSensor sensor;
    const std::string_view id = next_field(line, ',');
    if (!to_uint(id)) continue;
    sensor.id = id;
    sensor.name = next_field(line, ',');
    sensor.type = next_field(line, ',');
    sensor.state = state_of(next_field(line, ','));
    sensor.value = to_number(next_field(line, ','));
    const std::string_view unit = next_field(line, ',');
    if (unit != "N/A") sensor.unit = unit;
    if (trim(line) != "N/A") sensor.events = trim(line);
    if (!sensor.name.empty()) sensors.push_back(std::move(sensor));
  }
  return sensors;
}

// ipmitool names the events only; how bad each is, FreeIPMI's table says.
static std::optional<double> state_of_psu(const IpmiSensor& sensor) {
  if (sensor.type != "Power Supply") return std::nullopt;
  if (const auto redundancy = parse_redundancy(sensor.events)) return std::min(*redundancy, 2);
  const auto status = parse_psu_status(sensor.events);
  if (!status) return std::nullopt;
  const bool fault = status->failure || status->predictive || status->input_lost ||
                     status->out_of_range || status->configuration;
  return fault ? 2 : 0;
}

std::vector<IpmiSensor> parse_sdr_elist(std::string_view text) {
  std::vector<IpmiSensor> sensors;
  std::string_view line;
  while (next_line(text, line) && sensors.size() < kMaxSensors) {
    IpmiSensor sensor;
    sensor.name = next_field(line, '|');
    std::string_view id = next_field(line, '|');
    if (id.empty() || id.back() != 'h') continue;
    id.remove_suffix(1);
    const auto number = hex(id);
    if (!number || sensor.name.empty()) continue;
    sensor.id = std::to_string(*number);
    const std::string_view status = next_field(line, '|');
    const std::string_view entity = next_field(line, '|');
    take_reading(trim(line), sensor);
    if (!sensor.value) sensor.type = type_of_entity(entity.substr(0, entity.find('.')));
    // The status column of a discrete sensor is "ok" whatever it asserts.
    sensor.state = sensor.value ? state_of(status) : state_of_psu(sensor);
    sensors.push_back(std::move(sensor));
  }
  return sensors;
}

std::optional<PsuStatus> parse_psu_status(std::string_view events) {
  PsuStatus status;
  const std::string text = lower(events);
  if (text.substr(0, 2) == "0x") {
    const auto bits = hex(std::string_view(text).substr(2, text.find_first_of(" ,|", 2) - 2));
    if (!bits) return std::nullopt;
    status.present = *bits & 1;
    status.failure = *bits & 2;
    status.predictive = *bits & 4;
    status.input_lost = *bits & 8;
    status.out_of_range = (*bits & 48) != 0;
    status.configuration = *bits & 64;
    return status;
  }
  status.present = contains(text, "presence detected");
  status.failure = contains(text, "failure detected");
  status.predictive = contains(text, "predictive failure");
  status.out_of_range = contains(text, "out-of-range") || contains(text, "out of range");
  status.input_lost = contains(text, "ac lost") || contains(text, "input lost");
  status.configuration = contains(text, "config");
  const bool named = status.present || status.failure || status.predictive || status.out_of_range ||
                     status.input_lost || status.configuration;
  return named ? std::optional(status) : std::nullopt;
}

std::optional<int> parse_redundancy(std::string_view events) {
  const std::string text = lower(events);
  std::optional<int> worst;
  const auto is = [&worst](int state) { worst = std::max(worst.value_or(0), state); };
  if (contains(text, "fully redundant")) is(0);
  if (contains(text, "redundancy degraded")) is(1);
  // Enough is left to run, and the next failure takes the server down.
  if (contains(text, "non-redundant") || contains(text, "redundancy lost")) is(2);
  if (contains(text, "insufficient")) is(3);
  return worst;
}

std::string_view ipmitool_value(std::string_view text, std::string_view key) {
  std::string_view line;
  while (next_line(text, line)) {
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return trim(line.substr(colon + 1));
  }
  return {};
}

std::optional<double> ipmitool_number(std::string_view text, std::string_view key) {
  std::string_view value = ipmitool_value(text, key);
  return to_number(next_word(value));
}

namespace {

// Longest first: the sensor's name follows its type.
constexpr std::string_view kSensorTypes[] = {"Event Logging Disabled",
                                             "System Boot Initiated",
                                             "Critical Interrupt",
                                             "Physical Security",
                                             "System Firmwares",
                                             "System Firmware",
                                             "Management Subsystem Health",
                                             "Microcontroller",
                                             "Add-in Card",
                                             "System Event",
                                             "Power Supply",
                                             "Power Unit",
                                             "Drive Slot",
                                             "Temperature",
                                             "Watchdog2",
                                             "Watchdog1",
                                             "Watchdog",
                                             "Processor",
                                             "Voltage",
                                             "Current",
                                             "Memory",
                                             "OS Boot",
                                             "OS Critical Stop",
                                             "OS Stop",
                                             "Fan"};

void split_sensor(std::string_view text, SelEntry& entry) {
  for (const std::string_view type : kSensorTypes)
    if (text.substr(0, type.size()) == type) {
      entry.sensor_type = type.substr(0, 8) == "Watchdog" ? "Watchdog" : type;
      entry.sensor = trim(text.substr(type.size()));
      return;
    }
  entry.sensor_type = text;
}

}  // namespace

std::vector<SelEntry> parse_sel(std::string_view text) {
  std::vector<SelEntry> entries;
  std::string_view line;
  while (next_line(text, line) && entries.size() < kMaxEntries) {
    SelEntry entry;
    const auto record = hex(next_field(line, '|'));
    if (!record) continue;
    entry.record = *record;
    const std::string_view date = next_field(line, '|');
    // `Pre-Init  |0000000012|`: there, too, a time stands in its own field.
    if (date != "Pre-Init" && date != "Unspecified" && !contains(date, "/")) continue;
    next_field(line, '|');
    split_sensor(next_field(line, '|'), entry);
    entry.event = next_field(line, '|');
    const std::string_view direction = next_field(line, '|');
    entry.asserted = direction != "Deasserted";
    if (!entry.event.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_critical(const SelEntry& entry) {
  struct Rule {
    std::string_view type, event;
  };
  constexpr Rule kRules[] = {{"memory", "uncorrectable ecc"},
                             {"memory", "logging limit reached"},
                             {"memory", "configuration error"},
                             {"power supply", "failure detected"},
                             {"power supply", "ac lost"},
                             {"power supply", "input lost"},
                             {"power supply", "predictive failure"},
                             {"power unit", "redundancy lost"},
                             {"power unit", "non-redundant"},
                             {"power unit", "failure detected"},
                             {"power unit", "ac lost"},
                             {"fan", "lower critical"},
                             {"fan", "non-recoverable"},
                             {"temperature", " critical"},
                             {"temperature", "non-recoverable"},
                             {"voltage", " critical"},
                             {"voltage", "non-recoverable"},
                             {"processor", "ierr"},
                             {"processor", "thermal trip"},
                             {"processor", "configuration error"},
                             {"processor", "machine check"},
                             {"critical interrupt", "pci serr"},
                             {"critical interrupt", "pci perr"},
                             {"critical interrupt", "bus uncorrectable"},
                             {"critical interrupt", "bus fatal"},
                             {"watchdog", "hard reset"},
                             {"watchdog", "power cycle"},
                             {"watchdog", "power down"},
                             {"drive slot", "fault"},
                             {"drive slot", "predictive failure"},
                             {"event logging disabled", "full"},
                             {"os stop", "run-time critical stop"},
                             {"os critical stop", "run-time critical stop"}};
  if (!entry.asserted) return false;
  const std::string type = lower(entry.sensor_type), event = " " + lower(entry.event);
  return std::any_of(std::begin(kRules), std::end(kRules), [&](const Rule& rule) {
    // `Drive Slot / Bay`, `Watchdog2`
    return type.compare(0, rule.type.size(), rule.type) == 0 && contains(event, rule.event);
  });
}

}  // namespace vagt::agent
