// Turns a snapshot of the GPUs into DCGM's families and our own.
#include "node-agent/gpu/reading.h"

namespace vagt::agent {
namespace {

class Writer {
 public:
  Writer(MetricSink& sink, const GpuSnapshot& snapshot, const HostLabel& host)
      : sink_(sink), snapshot_(snapshot), host_(host) {}

  void write() {
    sink_.gauge("vagt_gpu_count", "GPUs by who counts them: nvml, pci, expected.")
        .add({{"source", "nvml"}}, static_cast<double>(snapshot_.gpus.size()));
    sink_
        .gauge("vagt_gpu_driver_mismatch",
               "1: user-space and kernel driver differ, no CUDA program can start.")
        .add(snapshot_.driver_mismatch ? 1 : 0);
    for (const GpuReading& gpu : snapshot_.gpus) write_gpu(gpu);
    write_driver();
  }

 private:
  void write_gpu(const GpuReading& gpu) {
    const LabelView own[] = {
        {"UUID", gpu.uuid}, {"gpu", gpu.index}, {"pci_bus_id", gpu.pci_bus_id}};
    sink_
        .gauge("vagt_gpu_up", "1: the driver answered for this GPU; 0: lost, needs a reset, hangs.")
        .add(own, gpu.up ? 1 : 0);
    sink_
        .gauge("vagt_gpu_error_code",
               "Last NVML error of this GPU: 15 lost, 16 reset required, 999 unknown, 10000 no "
               "answer in time; 0 is fine.")
        .add(own, gpu.error);
    if (gpu.health)
      sink_.gauge("vagt_gpu_health", "0 ok, 1 attention, 2 needs a reset, 3 lost.")
          .add(own, *gpu.health);
    // A frozen temperature is worse than none: a lost GPU has no samples of its own.
    if (gpu.error == kGpuIsLost || gpu.error == kGpuUnknownError) return;
    write_dcgm(gpu);
    write_own(gpu, own);
    write_mig(gpu);
    write_nvlinks(gpu);
    write_info(gpu);
  }

  void write_dcgm(const GpuReading& gpu) {
    const LabelView labels[] = {
        {"DCGM_FI_DRIVER_VERSION", snapshot_.driver_version},
        {host_.name, host_.value},
        {"UUID", gpu.uuid},
        {"device", gpu.device},
        {"gpu", gpu.index},
        {"modelName", gpu.model},
        {"pci_bus_id", gpu.pci_bus_id},
    };
    for (const GpuFamily& family : kGpuFamilies)
      if (const auto value = gpu[family.field])
        sink_.family(family.name, family.type, family.help).add(labels, *value);
  }

  void write_own(const GpuReading& gpu, std::span<const LabelView> own) {
    const auto gauge = [&](std::string_view name, std::string_view help,
                           const std::optional<double>& value) {
      if (value) sink_.gauge(name, help).add(own, *value);
    };
    gauge("vagt_gpu_temperature_margin_celsius",
          "Degrees to the first thermal throttling over all sensors of the board.",
          gpu.temperature_margin);
    gauge(
        "vagt_gpu_recovery_action",
        "What the driver asks for: 0 none, 1 GPU reset, 2 reboot, 3 drain P2P, 4 drain and reset.",
        gpu.recovery_action);
    gauge("vagt_gpu_processes", "Compute processes on this GPU.", gpu.processes);
    gauge("vagt_gpu_bar1_used_bytes", "BAR1 memory in use.", gpu.bar1_used_bytes);
    gauge("vagt_gpu_ecc_sram_threshold_exceeded",
          "1: uncorrectable SRAM errors are beyond NVIDIA's limit for a replacement.",
          gpu.sram_threshold_exceeded);
    gauge("vagt_nvlink_fabric_state", "3 completed, 2 in progress, 1 not started.",
          gpu.fabric_state);
    by_label(gpu, "counter", "vagt_gpu_throttle_seconds_total",
             "Time the clocks were held down, by reason.", "reason", gpu.throttle_seconds);
    by_label(gpu, "counter", "vagt_gpu_ecc_sram_uncorrectable_total",
             "Uncorrectable SRAM errors over the life of the board.", "kind",
             gpu.sram_uncorrectable);
    by_label(gpu, "gauge", "vagt_gpu_remapped_rows_banks",
             "Memory banks by how many spare rows they have left.", "availability",
             gpu.remapped_banks);
  }

  void by_label(const GpuReading& gpu, std::string_view type, std::string_view name,
                std::string_view help, std::string_view label,
                const std::map<std::string, double>& values) {
    for (const auto& [key, value] : values)
      sink_.family(name, type, help)
          .add({{"UUID", gpu.uuid},
                {"gpu", gpu.index},
                {"pci_bus_id", gpu.pci_bus_id},
                {label, key}},
               value);
  }

  // Only framebuffer exists per instance; repeating the rest, or the total, would count it twice.
  void write_mig(const GpuReading& gpu) {
    for (const MigInstance& mig : gpu.mig) {
      const auto framebuffer = [&](GpuField field, const std::optional<double>& value) {
        const GpuFamily& family = kGpuFamilies[static_cast<size_t>(field)];
        if (value)
          sink_.family(family.name, family.type, family.help)
              .add({{"DCGM_FI_DRIVER_VERSION", snapshot_.driver_version},
                    {"GPU_I_ID", mig.gpu_instance_id},
                    {"GPU_I_PROFILE", mig.profile},
                    {host_.name, host_.value},
                    {"UUID", gpu.uuid},
                    {"device", gpu.device},
                    {"gpu", gpu.index},
                    {"modelName", gpu.model},
                    {"pci_bus_id", gpu.pci_bus_id}},
                   *value);
      };
      framebuffer(GpuField::FbFree, mig.fb_free);
      framebuffer(GpuField::FbUsed, mig.fb_used);
      sink_.gauge("vagt_gpu_mig_info", "A MIG instance; the value is 1.")
          .add({{"UUID", gpu.uuid},
                {"compute_instance_id", mig.compute_instance_id},
                {"gpu", gpu.index},
                {"gpu_instance_id", mig.gpu_instance_id},
                {"mig_uuid", mig.uuid},
                {"profile", mig.profile}},
               1);
    }
  }

  void write_nvlinks(const GpuReading& gpu) {
    if (gpu.nvlinks.empty()) return;
    double active = 0;
    for (const NvlinkReading& nvlink : gpu.nvlinks) {
      const std::string link = std::to_string(nvlink.link);
      const LabelView labels[] = {
          {"UUID", gpu.uuid}, {"gpu", gpu.index}, {"link", link}, {"pci_bus_id", gpu.pci_bus_id}};
      if (nvlink.up) ++active;
      sink_.gauge("vagt_nvlink_up", "1: the link is active.").add(labels, nvlink.up ? 1 : 0);
      if (nvlink.speed_bytes_per_second)
        sink_
            .gauge("vagt_nvlink_speed_bytes_per_second",
                   "Line rate of the link as the driver states it.")
            .add(labels, *nvlink.speed_bytes_per_second);
      for (const auto& [kind, count] : nvlink.errors)
        sink_.counter("vagt_nvlink_errors_total", "Errors of an NVLink by kind.")
            .add({{"UUID", gpu.uuid},
                  {"gpu", gpu.index},
                  {"kind", kind},
                  {"link", link},
                  {"pci_bus_id", gpu.pci_bus_id}},
                 count);
    }
    sink_.gauge("vagt_nvlink_active_links", "Links of this GPU that are active.")
        .add({{"UUID", gpu.uuid}, {"gpu", gpu.index}, {"pci_bus_id", gpu.pci_bus_id}}, active);
  }

  void write_info(const GpuReading& gpu) {
    if (gpu.model.empty()) return;  // NVLink output alone names no card
    sink_.gauge("vagt_gpu_info", "What the card is; the value is 1.")
        .add({{"UUID", gpu.uuid},
              {"board_part_number", gpu.board_part_number},
              {"device", gpu.device},
              {"ecc_mode", gpu.ecc_mode},
              {"gpu", gpu.index},
              {"mig_mode", gpu.mig_mode},
              {"modelName", gpu.model},
              {"pci_bus_id", gpu.pci_bus_id},
              {"persistence_mode", gpu.persistence_mode},
              {"serial", gpu.serial},
              {"vbios_version", gpu.vbios}},
             1);
  }

  void write_driver() {
    if (snapshot_.driver_version.empty()) return;
    sink_.gauge("vagt_gpu_driver_info", "Versions of the driver; the value is 1.")
        .add({{"cuda_driver_version", snapshot_.cuda_version},
              {"driver_version", snapshot_.driver_version},
              {"nvml_version", snapshot_.nvml_version}},
             1);
  }

  MetricSink& sink_;
  const GpuSnapshot& snapshot_;
  const HostLabel& host_;
};

}  // namespace

void write_gpus(MetricSink& sink, const GpuSnapshot& snapshot, const HostLabel& host) {
  Writer(sink, snapshot, host).write();
}

void complete(GpuReading& gpu) {
  const auto maximum = gpu[GpuField::GpuMaxOpTemp], temperature = gpu[GpuField::GpuTemp];
  if (!gpu.temperature_margin && maximum && temperature)
    gpu.temperature_margin = *maximum - *temperature;
}

}  // namespace vagt::agent
