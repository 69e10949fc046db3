// What smartctl's JSON says of a disk, as smartctl_exporter's families and our own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "node-agent/collector.h"

namespace vagt::agent {

struct SmartDevice {
  std::string name, type, protocol;  // /dev/sda, sat, ATA
};
// `smartctl --scan-open --json`. InvalidArgument: not such a document.
Result<std::vector<SmartDevice>> parse_smart_scan(std::string_view json);

struct SmartSummary {
  std::string device;  // the label: "sda", "bus_0_megaraid_3"
  bool asleep = false;
  int exit_status = 0;  // smartctl's bit mask
};
// Writes the families of one report (`smartctl --json -a …`). InvalidArgument: not such a document.
// Unavailable: smartctl could not open the device; its own words.
Result<SmartSummary> write_smart(MetricSink& sink, std::string_view json);

// Bytes a drive really wrote, from `nvme ocp smart-add-log -o json`. NotFound: not in there.
Status write_ocp_log(MetricSink& sink, std::string_view json, std::string_view device);

}  // namespace vagt::agent
