// Parsers of the agent: the first byte of the input says which. None may crash, hang or make a line
// that is no exposition text.
#include <cstdlib>

#include "node-agent/bmc/page.h"
#include "node-agent/containers/docker.h"
#include "node-agent/disk/smart.h"
#include "node-agent/gpu/smi.h"
#include "node-agent/kernel_log/counters.h"
#include "node-agent/kernel_log/journal.h"
#include "node-agent/reboot/marker.h"
#include "node-agent/sources.h"

using namespace vagt::agent;

namespace {

void kernel_log(std::string_view text) {
  KernelLogCounters counters;
  GpuDirectory gpus;
  std::string_view rest = text, line;
  while (next_line(rest, line)) {
    auto record = parse_kmsg(line, vagt::Timestamp{});
    if (!record) record = parse_dmesg(line);
    if (record) counters.add(*record);
  }
  JournalReader journal(text);
  while (const auto record = journal.next()) counters.add(*record);
  counters.settle(vagt::from_millis(1));
  MetricSink sink;
  counters.write(sink, gpus);
  KernelLogCounters again;
  again.load(counters.save());
  again.load(text);
}

void gpus(MetricSink& sink, vagt::Result<GpuSnapshot> snapshot) {
  if (snapshot) write_gpus(sink, *snapshot, HostLabel{"Hostname", "host"});
}

void ipmi(MetricSink& sink, std::string_view text) {
  BmcMemory memory;
  memory.load(text);
  write_sensors(sink, parse_ipmi_sensors(text), memory, {});
  write_sensors(sink, parse_sdr_elist(text), memory, {});
  memory.take(parse_sel(text));
  write_sel(sink, memory);
  write_chassis(sink, text);
  write_dcmi(sink, text);
  write_sel_info(sink, text);
  write_bmc_info(sink, text);
}

// Every family's lines begin with its name and end with a newline.
void check(const MetricSink& sink) {
  for (const auto& [name, family] : sink.families()) {
    const std::string& lines = family.lines();
    if (!lines.empty() && (lines.back() != '\n' || lines.compare(0, name.size(), name) != 0))
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  MetricSink sink;
  switch (data[0] % 7) {
    case 0:
      kernel_log(text);
      break;
    case 1:
      gpus(sink, parse_smi_csv(text));
      break;
    case 2:
      gpus(sink, parse_smi_xml(text));
      break;
    case 3: {
      GpuSnapshot snapshot;
      read_nvlink_status(text, snapshot);
      read_nvlink_errors(text, snapshot);
      write_gpus(sink, snapshot, HostLabel{"Hostname", "host"});
      break;
    }
    case 4:
      ipmi(sink, text);
      break;
    case 5:
      write_smart(sink, text).status().ignore("a refusal is an answer");
      write_ocp_log(sink, text, "nvme0").ignore("a refusal is an answer");
      write_containers(sink, text, "docker").ignore("a refusal is an answer");
      parse_smart_scan(text).status().ignore("a refusal is an answer");
      break;
    default:
      parse_marker(text).status().ignore("a refusal is an answer");
      parse_boot_state(text).status().ignore("a refusal is an answer");
  }
  check(sink);
  return 0;
}
