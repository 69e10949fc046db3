// What is known of the GPUs at one moment, whoever told it: NVML, or nvidia-smi as CSV or XML.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "node-agent/collector.h"

namespace vagt::agent {

// One number per GPU and DCGM family, in the family's unit. The order is that of kGpuFamilies.
enum class GpuField : uint8_t {
  GpuTemp,
  MemoryTemp,
  SlowdownTemp,
  ShutdownTemp,
  GpuMaxOpTemp,
  MemMaxOpTemp,
  PowerUsage,
  PowerLimit,
  PowerLimitDefault,
  PowerLimitMin,
  PowerLimitMax,
  EnforcedPowerLimit,
  TotalEnergy,
  SmClock,
  MemClock,
  Pstate,
  FanSpeed,
  GpuUtil,
  MemCopyUtil,
  EncUtil,
  DecUtil,
  FbTotal,
  FbFree,
  FbUsed,
  FbReserved,
  EccSbeVolatile,
  EccSbeAggregate,
  EccDbeVolatile,
  EccDbeAggregate,
  RetiredSbe,
  RetiredDbe,
  RetiredPending,
  CorrectableRemappedRows,
  UncorrectableRemappedRows,
  RowRemapPending,
  RowRemapFailure,
  PcieReplay,
  PcieLinkGen,
  PcieLinkWidth,
  PcieMaxLinkGen,
  PcieMaxLinkWidth,
  PowerViolation,
  ThermalViolation,
  SyncBoostViolation,
  BoardLimitViolation,
  LowUtilViolation,
  ReliabilityViolation,
  ClocksEventReasons,
  NvlinkCrcFlit,
  NvlinkCrcData,
  NvlinkReplay,
  NvlinkRecovery,
  ProfGrEngine,
  ProfSmActive,
  ProfSmOccupancy,
  ProfTensor,
  ProfDram,
  ProfFp64,
  ProfFp32,
  ProfFp16,
  ProfPcieTx,
  ProfPcieRx,
  Count,
};

struct GpuFamily {
  GpuField field;
  std::string_view name, type, help;
  // Where nvidia-smi says it: CSV columns and XML paths, the first one that has a number counts;
  // alternatives are separated by '|'. "" where it does not.
  std::string_view csv, xml;
  double smi_factor;  // from nvidia-smi's unit to the family's
};
extern const std::array<GpuFamily, static_cast<size_t>(GpuField::Count)> kGpuFamilies;

// nvmlReturn_t values that matter here, and one of our own.
enum GpuError : int {
  kGpuOk = 0,
  kGpuIsLost = 15,
  kGpuResetRequired = 16,
  kGpuUnknownError = 999,
  kGpuDeadline = 10000,  // the call did not come back in time
};

constexpr size_t kMaxGpuProcesses = 128;

struct MigInstance {
  std::string gpu_instance_id, compute_instance_id, uuid, profile;
  std::optional<double> fb_free, fb_used;  // MiB
};

struct NvlinkReading {
  int link = 0;
  bool up = false;
  std::optional<double> speed_bytes_per_second;
  std::map<std::string, double> errors;  // replay, recovery, crc_flit, crc_data
};

// A compute process on a GPU.
struct GpuProcess {
  unsigned pid = 0;
  std::optional<double> used_bytes;  // of framebuffer
};

struct GpuReading {
  std::string index, uuid, pci_bus_id, device, model;
  std::string serial, vbios, board_part_number, mig_mode, ecc_mode, persistence_mode;
  int error = kGpuOk;
  bool up = true;
  std::array<std::optional<double>, static_cast<size_t>(GpuField::Count)> values;
  std::map<std::string, double> throttle_seconds;  // by reason
  std::optional<double> temperature_margin;        // degrees to the first throttling
  std::optional<double> recovery_action;           // 0 none … 4 drain and reset
  std::vector<GpuProcess> process_list;            // at most kMaxGpuProcesses
  std::optional<double> graphics_clock;            // MHz
  std::optional<double> processes, bar1_used_bytes, sram_threshold_exceeded, fabric_state;
  std::map<std::string, double> sram_uncorrectable;  // parity, secded
  std::map<std::string, double> remapped_banks;      // max, high, partial, low, none
  std::vector<MigInstance> mig;
  std::vector<NvlinkReading> nvlinks;
  std::optional<int> health;  // 0 ok, 1 attention, 2 needs a reset, 3 lost

  std::optional<double>& operator[](GpuField field) { return values[static_cast<size_t>(field)]; }
  std::optional<double> operator[](GpuField field) const {
    return values[static_cast<size_t>(field)];
  }
};

struct GpuSnapshot {
  std::string driver_version, nvml_version, cuda_version;
  bool driver_mismatch = false;
  std::vector<GpuReading> gpus;
};

// Who these GPUs belong to, as a label: dcgm-exporter 3 writes Hostname, 4 hostname.
struct HostLabel {
  std::string name = "Hostname", value;
};
// Writes the snapshot's families.
void write_gpus(MetricSink& sink, const GpuSnapshot& snapshot, const HostLabel& host);
// The names of nvidia_gpu_exporter for the same values.
void write_smi_aliases(MetricSink& sink, const GpuSnapshot& snapshot);

// What is left to derive once all fields are in: the margin where the driver has none.
void complete(GpuReading& gpu);

}  // namespace vagt::agent
