// Turns what a BMC said into ipmi_exporter's families and our own.
#pragma once

#include "node-agent/bmc/ipmi.h"
#include "node-agent/collector.h"

namespace vagt::agent {

// What outlives one round: fans that once turned, SEL records already counted.
struct BmcMemory {
  std::set<std::string> turning_fans;
  uint32_t last_record = 0;
  double entries = 0;  // of the log when it was last read
  std::string last_added;
  std::map<std::string, uint64_t> critical;  // by sensor type
  std::map<std::string, SelEntry> last;      // critical, by sensor type
  size_t most_psus = 0;

  std::string save() const;
  void load(std::string_view text);
  // Counts the records after `last_record`; a log that was cleared is read from its beginning.
  void take(const std::vector<SelEntry>& entries);
};

struct PsuSettings {
  std::optional<double> expected, required;
  bool count_seen = true;  // without `expected`: the most that were ever there
};

void write_sensors(MetricSink& sink, const std::vector<IpmiSensor>& sensors, BmcMemory& memory,
                   const PsuSettings& settings);
// The counters that begin at 0, so that the first critical entry of a type is seen as a step.
void add_critical_types(BmcMemory& memory);
void write_sel(MetricSink& sink, const BmcMemory& memory);
// Texts of `ipmitool chassis status`, `dcmi power reading`, `sel info`, `mc info`; what one does
// not say is absent.
void write_chassis(MetricSink& sink, std::string_view status);
void write_dcmi(MetricSink& sink, std::string_view reading);
void write_sel_info(MetricSink& sink, std::string_view info);
void write_bmc_info(MetricSink& sink, std::string_view info);

}  // namespace vagt::agent
