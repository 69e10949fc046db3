// The names that nvidia_gpu_exporter has for what is on the page already.
#include "node-agent/gpu/reading.h"

namespace vagt::agent {
namespace {

struct Alias {
  std::string_view name, help;
  GpuField field;
  double factor;
};
constexpr Alias kAliases[] = {
    {"nvidia_smi_temperature_gpu", "temperature.gpu", GpuField::GpuTemp, 1},
    {"nvidia_smi_power_draw_watts", "power.draw [W]", GpuField::PowerUsage, 1},
    {"nvidia_smi_power_limit_watts", "power.limit [W]", GpuField::PowerLimit, 1},
    {"nvidia_smi_enforced_power_limit_watts", "enforced.power.limit [W]",
     GpuField::EnforcedPowerLimit, 1},
    {"nvidia_smi_utilization_gpu_ratio", "utilization.gpu [%]", GpuField::GpuUtil, 0.01},
    {"nvidia_smi_utilization_memory_ratio", "utilization.memory [%]", GpuField::MemCopyUtil, 0.01},
    {"nvidia_smi_memory_total_bytes", "memory.total [MiB]", GpuField::FbTotal, 1048576},
    {"nvidia_smi_memory_used_bytes", "memory.used [MiB]", GpuField::FbUsed, 1048576},
    {"nvidia_smi_memory_free_bytes", "memory.free [MiB]", GpuField::FbFree, 1048576},
    {"nvidia_smi_fan_speed_ratio", "fan.speed [%]", GpuField::FanSpeed, 0.01},
    {"nvidia_smi_clocks_current_sm_clock_hz", "clocks.current.sm [MHz]", GpuField::SmClock, 1e6},
    {"nvidia_smi_clocks_current_memory_clock_hz", "clocks.current.memory [MHz]", GpuField::MemClock,
     1e6},
    {"nvidia_smi_pstate", "pstate", GpuField::Pstate, 1},
    {"nvidia_smi_pcie_link_gen_current", "pcie.link.gen.current", GpuField::PcieLinkGen, 1},
    {"nvidia_smi_pcie_link_width_current", "pcie.link.width.current", GpuField::PcieLinkWidth, 1},
    {"nvidia_smi_ecc_errors_uncorrected_volatile_total", "ecc.errors.uncorrected.volatile.total",
     GpuField::EccDbeVolatile, 1},
    {"nvidia_smi_remapped_rows_failure", "remapped_rows.failure", GpuField::RowRemapFailure, 1},
    {"nvidia_smi_remapped_rows_pending", "remapped_rows.pending", GpuField::RowRemapPending, 1},
};
constexpr unsigned kHardwareThermal = 64;  // of the clocks' event reasons

// That exporter leaves the prefix of UUIDs out.
std::string_view bare(std::string_view uuid) {
  return uuid.substr(0, 4) == "GPU-" ? uuid.substr(4) : uuid;
}

}  // namespace

void write_smi_aliases(MetricSink& sink, const GpuSnapshot& snapshot) {
  for (const GpuReading& gpu : snapshot.gpus) {
    if (gpu.error == kGpuIsLost || gpu.error == kGpuUnknownError || gpu.uuid.empty()) continue;
    const LabelView uuid[] = {{"uuid", bare(gpu.uuid)}};
    sink.gauge("nvidia_smi_gpu_info", "What the card is; the value is 1.")
        .add({{"driver_version", snapshot.driver_version},
              {"index", gpu.index},
              {"name", gpu.model},
              {"uuid", bare(gpu.uuid)},
              {"vbios_version", gpu.vbios}},
             1);
    for (const Alias& alias : kAliases)
      if (const auto value = gpu[alias.field])
        sink.gauge(alias.name, alias.help).add(uuid, *value * alias.factor);
    if (gpu.graphics_clock)
      sink.gauge("nvidia_smi_clocks_current_graphics_clock_hz", "clocks.current.graphics [MHz]")
          .add(uuid, *gpu.graphics_clock * 1e6);
    if (gpu.recovery_action)
      sink.gauge("nvidia_smi_gpu_recovery_action", "gpu_recovery_action")
          .add(uuid, *gpu.recovery_action);
    if (const auto reasons = gpu[GpuField::ClocksEventReasons])
      sink.gauge("nvidia_smi_clocks_event_reasons_hw_thermal_slowdown",
                 "clocks_event_reasons.hw_thermal_slowdown")
          .add(uuid, (static_cast<unsigned>(*reasons) & kHardwareThermal) != 0 ? 1 : 0);
  }
}

}  // namespace vagt::agent
