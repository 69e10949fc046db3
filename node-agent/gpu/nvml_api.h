// NVIDIA's management library, opened at run time: the agent starts without it, and a function an
// older driver lacks is a field that is absent.
//
// Types and numbers are those of nvml.h, written down here so that no CUDA package is needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"

namespace vagt::agent {

using NvmlDevice = struct NvmlDeviceTag*;

enum NvmlReturn : int {
  kNvmlSuccess = 0,
  kNvmlUninitialized = 1,
  kNvmlNotSupported = 3,
  kNvmlInsufficientSize = 7,
  kNvmlDriverNotLoaded = 9,
  kNvmlGpuIsLost = 15,
  kNvmlResetRequired = 16,
  kNvmlLibRmVersionMismatch = 18,
  kNvmlUnknown = 999,
};

struct NvmlUtilization {
  unsigned gpu, memory;
};
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlMemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_sub_system_id;
  char bus_id[32];
};
struct NvmlBar1Memory {
  unsigned long long total, free, used;
};
struct NvmlFieldValue {
  unsigned field_id, scope_id;
  long long timestamp, latency_us;
  int value_type;
  int result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_long_long;
    int as_int;
    unsigned short as_unsigned_short;
  } value;
};
struct NvmlMarginTemperature {
  unsigned version;
  int margin;
};
struct NvmlRowRemapperHistogram {
  unsigned max, high, partial, low, none;
};
struct NvmlProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

using NvmlGpmSample = struct NvmlGpmSampleTag*;
struct NvmlGpmSupport {
  unsigned version, supported;
};
struct NvmlGpmMetric {
  unsigned id;
  int result;
  double value;
  const char *short_name, *long_name, *unit;
};
// The library reads as many metrics as `count` says; how many the array has differs by version.
struct NvmlGpmMetrics {
  unsigned version, count;
  NvmlGpmSample sample1, sample2;
  NvmlGpmMetric metrics[333];
};

// The version word at the head of a struct: its size and number.
template <class T>
constexpr unsigned nvml_version(unsigned number) {
  return static_cast<unsigned>(sizeof(T)) | number << 24;
}

// Null where the library has no such function; init, count and handle are always there.
struct NvmlApi {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*nvml_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*serial)(NvmlDevice, char*, unsigned) = nullptr;
  int (*vbios)(NvmlDevice, char*, unsigned) = nullptr;
  int (*board_part)(NvmlDevice, char*, unsigned) = nullptr;
  int (*minor)(NvmlDevice, unsigned*) = nullptr;
  int (*pci)(NvmlDevice, NvmlPciInfo*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*temperature_threshold)(NvmlDevice, int, unsigned*) = nullptr;
  int (*margin)(NvmlDevice, NvmlMarginTemperature*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*power_default)(NvmlDevice, unsigned*) = nullptr;
  int (*power_constraints)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*enforced_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*pstate)(NvmlDevice, int*) = nullptr;
  int (*fan)(NvmlDevice, unsigned*) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*encoder)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*decoder)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*memory_v2)(NvmlDevice, NvmlMemoryV2*) = nullptr;
  int (*ecc)(NvmlDevice, int, int, unsigned long long*) = nullptr;
  int (*remapped)(NvmlDevice, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  int (*remap_histogram)(NvmlDevice, NvmlRowRemapperHistogram*) = nullptr;
  int (*retired)(NvmlDevice, int, unsigned*, unsigned long long*) = nullptr;
  int (*retired_pending)(NvmlDevice, int*) = nullptr;
  int (*replay)(NvmlDevice, unsigned*) = nullptr;
  int (*link_gen)(NvmlDevice, unsigned*) = nullptr;
  int (*link_width)(NvmlDevice, unsigned*) = nullptr;
  int (*max_link_gen)(NvmlDevice, unsigned*) = nullptr;
  int (*max_link_width)(NvmlDevice, unsigned*) = nullptr;
  int (*event_reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*fields)(NvmlDevice, int, NvmlFieldValue*) = nullptr;
  int (*processes)(NvmlDevice, unsigned*, NvmlProcessInfo*) = nullptr;
  int (*bar1)(NvmlDevice, NvmlBar1Memory*) = nullptr;
  int (*nvlink_state)(NvmlDevice, unsigned, int*) = nullptr;
  int (*nvlink_errors)(NvmlDevice, unsigned, int, unsigned long long*) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*ecc_mode)(NvmlDevice, int*, int*) = nullptr;
  int (*persistence)(NvmlDevice, int*) = nullptr;
  int (*pcie_throughput)(NvmlDevice, int, unsigned*) = nullptr;
  int (*mig_count)(NvmlDevice, unsigned*) = nullptr;
  int (*mig_handle)(NvmlDevice, unsigned, NvmlDevice*) = nullptr;
  int (*gpu_instance)(NvmlDevice, unsigned*) = nullptr;
  int (*compute_instance)(NvmlDevice, unsigned*) = nullptr;
  int (*gpm_support)(NvmlDevice, NvmlGpmSupport*) = nullptr;
  int (*gpm_alloc)(NvmlGpmSample*) = nullptr;
  int (*gpm_free)(NvmlGpmSample) = nullptr;
  int (*gpm_sample)(NvmlDevice, NvmlGpmSample) = nullptr;
  int (*gpm_metrics)(NvmlGpmMetrics*) = nullptr;

  NvmlApi() = default;
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;
  ~NvmlApi();  // shuts the session down and closes the library
  void* library = nullptr;
  bool initialised = false;
};

struct NvmlOpened {
  std::shared_ptr<NvmlApi> api;
  int result = kNvmlSuccess;  // what init said
};
// NotFound: no such library, or one without the functions every driver has. A failed init is in
// `result`.
Result<NvmlOpened> open_nvml(const std::string& library);

}  // namespace vagt::agent
