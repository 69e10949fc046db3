// Sensors of /sys/class/hwmon: temperatures and fans, with their labels and alarms.
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

// node_exporter's cleanMetricName: lower case, [a-z0-9:_], no underscore at the ends.
std::string clean(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_';
    out += plain ? c : '_';
  }
  while (!out.empty() && out.front() == '_') out.erase(out.begin());
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string out(resolved);
  std::free(resolved);
  return out;
}

std::string leaf(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// The device below the chip names it, with the bus it is on; else the driver; else the directory.
std::string chip_name(const std::string& directory) {
  const std::string name = clean(read_line(directory + "/name").value_or(std::string()));
  const std::string device = real_path(directory + "/device");
  if (!device.empty()) {
    const std::string parent = device.substr(0, device.rfind('/'));
    const std::string own = clean(leaf(device)), bus = clean(leaf(parent));
    // A device may carry several chips: then only the driver's name tells them apart.
    const bool ambiguous = !name.empty() && list_directory(device + "/hwmon").size() > 1;
    if (!own.empty() && !bus.empty()) return bus + '_' + own + (ambiguous ? '_' + name : "");
    if (!own.empty()) return own;
  }
  if (!name.empty()) return name;
  return clean(leaf(real_path(directory)));
}

struct Property {
  std::string_view sensor, property, name, help;
  double divisor;
};
constexpr Property kProperties[] = {
    {"temp", "input", "node_hwmon_temp_celsius", "Hardware monitor for temperature (input)", 1000},
    {"temp", "max", "node_hwmon_temp_max_celsius", "Hardware monitor for temperature (max)", 1000},
    {"temp", "crit", "node_hwmon_temp_crit_celsius", "Hardware monitor for temperature (crit)",
     1000},
    {"temp", "crit_hyst", "node_hwmon_temp_crit_hyst_celsius",
     "Hardware monitor for temperature (crit_hyst)", 1000},
    // 0 or 1: node_exporter divides this one by 1000 too, by mistake.
    {"temp", "crit_alarm", "node_hwmon_temp_crit_alarm_celsius",
     "Hardware monitor for temperature (crit_alarm)", 1},
    {"temp", "alarm", "node_hwmon_temp_alarm", "Hardware sensor alarm status (temp)", 1},
    {"fan", "input", "node_hwmon_fan_rpm",
     "Hardware monitor for fan revolutions per minute (input)", 1},
    {"fan", "min", "node_hwmon_fan_min_rpm",
     "Hardware monitor for fan revolutions per minute (min)", 1},
};

struct SensorFile {
  std::string type, sensor, property;  // "temp", "temp1", "crit_alarm"
};

// `temp1_crit_alarm`: type, number, property.
std::optional<SensorFile> parse_file_name(std::string_view file) {
  size_t digits = 0;
  while (digits < file.size() && (file[digits] < '0' || file[digits] > '9')) ++digits;
  size_t underscore = digits;
  while (underscore < file.size() && file[underscore] >= '0' && file[underscore] <= '9')
    ++underscore;
  if (digits == 0 || underscore == digits || underscore >= file.size() || file[underscore] != '_')
    return std::nullopt;
  return SensorFile{std::string(file.substr(0, digits)), std::string(file.substr(0, underscore)),
                    std::string(file.substr(underscore + 1))};
}

class HwmonCollector final : public Collector {
 public:
  HwmonCollector(const Sources& sources, NameFilter chips)
      : directory_(sources.sys("class/hwmon")), chips_(std::move(chips)) {}
  std::string_view name() const override { return "hwmon"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto entries = list_directory(directory_);
    if (entries.empty()) return Status::not_found("no sensors");
    for (const std::string& entry : entries) {
      const std::string path = directory_ + '/' + entry;
      const std::string chip = chip_name(path);
      if (chip.empty() || !chips_.keeps(chip)) continue;
      if (const auto name = read_line(path + "/name"))
        sink.gauge("node_hwmon_chip_names", "Annotation metric for human-readable chip names")
            .add({{"chip", chip}, {"chip_name", clean(*name)}}, 1);
      std::set<std::string> seen;
      add_files(sink, path, chip, seen);
      add_files(sink, path + "/device", chip, seen);  // old drivers put their files there
    }
    return {};
  }

 private:
  static void add_files(MetricSink& sink, const std::string& directory, const std::string& chip,
                        std::set<std::string>& seen) {
    for (const std::string& file : list_directory(directory)) {
      const auto parsed = parse_file_name(file);
      if (!parsed || !seen.insert(file).second) continue;
      const LabelView labels[] = {{"chip", chip}, {"sensor", parsed->sensor}};
      if (parsed->property == "label") {
        if (const auto label = read_line(directory + '/' + file))
          sink.gauge("node_hwmon_sensor_label", "Label for given chip and sensor")
              .add({{"chip", chip}, {"label", *label}, {"sensor", parsed->sensor}}, 1);
        continue;
      }
      for (const Property& known : kProperties) {
        if (known.sensor != parsed->type || known.property != parsed->property) continue;
        // A sensor that cannot be read right now (EIO, ENODATA) has no sample.
        if (const auto value = read_number(directory + '/' + file))
          sink.gauge(known.name, known.help).add(labels, *value / known.divisor);
      }
    }
  }

  const std::string directory_;
  const NameFilter chips_;
};

}  // namespace

CollectorPtr make_hwmon(const Sources& sources, const Filters& filters) {
  return std::make_unique<HwmonCollector>(sources, filters.hwmon_chips);
}

}  // namespace vagt::agent
