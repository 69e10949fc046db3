#include "node-agent/gpu/smi.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

// A row under its header: column name (unit dropped) to cell.
using Row = std::map<std::string_view, std::string_view, std::less<>>;

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t from = 0;;) {
    const size_t comma = line.find(',', from);
    cells.push_back(trim(line.substr(from, comma - from)));
    if (comma == std::string_view::npos) return cells;
    from = comma + 1;
  }
}

// "power.draw [W]" is the column power.draw.
std::string_view column_name(std::string_view header) {
  return trim(header.substr(0, header.find(" [")));
}

std::string_view cell(const Row& row, std::string_view name) {
  const auto found = row.find(name);
  return found == row.end() ? std::string_view() : found->second;
}

std::optional<double> number(const Row& row, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const size_t bar = alternatives.find('|');
    if (const auto value = smi_number(cell(row, alternatives.substr(0, bar)))) return value;
    if (bar == std::string_view::npos) break;
    alternatives.remove_prefix(bar + 1);
  }
  return std::nullopt;
}

void take_throttling(const Row& row, GpuReading& gpu) {
  constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
      {"sw_power_cap", "clocks_event_reasons_counters.sw_power_cap"},
      {"sync_boost", "clocks_event_reasons_counters.sync_boost"},
      {"sw_thermal", "clocks_event_reasons_counters.sw_thermal_slowdown"},
      {"hw_thermal", "clocks_event_reasons_counters.hw_thermal_slowdown"},
      {"hw_power_brake", "clocks_event_reasons_counters.hw_power_brake_slowdown"}};
  for (const auto& [reason, column] : kReasons)
    if (const auto microseconds = number(row, column))
      gpu.throttle_seconds.emplace(reason, *microseconds / 1e6);
  const auto software = number(row, kReasons[2].second), hardware = number(row, kReasons[3].second);
  if (software || hardware)
    gpu[GpuField::ThermalViolation] = (software.value_or(0) + hardware.value_or(0)) * 1000;
}

void take_memory_errors(const Row& row, GpuReading& gpu) {
  for (const char* kind : {"parity", "secded"})
    if (const auto n = number(row, std::string("ecc.errors.uncorrected.aggregate.sram.") + kind))
      gpu.sram_uncorrectable.emplace(kind, *n);
  gpu.sram_threshold_exceeded =
      number(row, "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded");
  for (const char* availability : {"max", "high", "partial", "low", "none"})
    if (const auto n = number(row, std::string("remapped_rows.histogram.") + availability))
      gpu.remapped_banks.emplace(availability, *n);
}

GpuReading read_row(const Row& row) {
  GpuReading gpu;
  gpu.index = cell(row, "index");
  gpu.uuid = smi_text(cell(row, "uuid"));
  gpu.pci_bus_id = smi_text(cell(row, "pci.bus_id"));
  gpu.model = smi_text(cell(row, "name"));
  gpu.device = "nvidia" + gpu.index;  // CSV has no minor number
  gpu.serial = smi_text(cell(row, "serial"));
  gpu.vbios = smi_text(cell(row, "vbios_version"));
  gpu.mig_mode = smi_text(cell(row, "mig.mode.current"));
  gpu.ecc_mode = smi_text(cell(row, "ecc.mode.current"));
  gpu.persistence_mode = smi_text(cell(row, "persistence_mode"));
  // The temperature speaks for the card: other cells say Unknown Error for lesser reasons.
  gpu.error = smi_error(cell(row, "temperature.gpu"));
  gpu.up = gpu.error == kGpuOk;
  for (const GpuFamily& family : kGpuFamilies)
    if (const auto value = number(row, family.csv)) gpu[family.field] = *value * family.smi_factor;
  gpu.temperature_margin = number(row, "temperature.gpu.tlimit");
  gpu.graphics_clock = number(row, "clocks.current.graphics|clocks.gr");
  gpu.recovery_action = smi_recovery_action(cell(row, "gpu_recovery_action"));
  take_throttling(row, gpu);
  take_memory_errors(row, gpu);
  complete(gpu);
  return gpu;
}

}  // namespace

Result<GpuSnapshot> parse_smi_csv(std::string_view text) {
  GpuSnapshot snapshot;
  std::string_view line;
  std::vector<std::string_view> header;
  while (next_line(text, line)) {
    const auto cells = split_cells(line);
    if (header.empty()) {
      if (cells.size() < 2) continue;  // messages before the table
      for (const std::string_view name : cells) header.push_back(column_name(name));
      continue;
    }
    if (cells.size() < header.size()) continue;  // a message about one GPU, or a cut line
    Row row;
    for (size_t i = 0; i < header.size(); ++i) row.emplace(header[i], cells[i]);
    if (!to_uint(cell(row, "index")) || cell(row, "uuid").empty()) continue;
    snapshot.gpus.push_back(read_row(row));
    if (snapshot.driver_version.empty())
      snapshot.driver_version = smi_text(cell(row, "driver_version"));
  }
  if (snapshot.gpus.empty())
    return Status::invalid("nvidia-smi: no line with columns index and uuid");
  return snapshot;
}

}  // namespace vagt::agent
