#include "node-agent/gpu/nvml_api.h"

#include <dlfcn.h>

namespace vagt::agent {
namespace {

template <class Function>
void find(void* library, const char* name, Function& out) {
  if (out == nullptr) out = reinterpret_cast<Function>(dlsym(library, name));
}

void find_identity(void* library, NvmlApi& api) {
  find(library, "nvmlInit_v2", api.init);
  find(library, "nvmlShutdown", api.shutdown);
  find(library, "nvmlDeviceGetCount_v2", api.count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", api.handle);
  find(library, "nvmlSystemGetDriverVersion", api.driver_version);
  find(library, "nvmlSystemGetNVMLVersion", api.nvml_version);
  find(library, "nvmlSystemGetCudaDriverVersion_v2", api.cuda_version);
  find(library, "nvmlDeviceGetUUID", api.uuid);
  find(library, "nvmlDeviceGetName", api.name);
  find(library, "nvmlDeviceGetSerial", api.serial);
  find(library, "nvmlDeviceGetVbiosVersion", api.vbios);
  find(library, "nvmlDeviceGetBoardPartNumber", api.board_part);
  find(library, "nvmlDeviceGetMinorNumber", api.minor);
  find(library, "nvmlDeviceGetPciInfo_v3", api.pci);
  find(library, "nvmlDeviceGetMigMode", api.mig_mode);
  find(library, "nvmlDeviceGetEccMode", api.ecc_mode);
  find(library, "nvmlDeviceGetPersistenceMode", api.persistence);
}

void find_readings(void* library, NvmlApi& api) {
  find(library, "nvmlDeviceGetTemperature", api.temperature);
  find(library, "nvmlDeviceGetTemperatureThreshold", api.temperature_threshold);
  find(library, "nvmlDeviceGetMarginTemperature", api.margin);
  find(library, "nvmlDeviceGetPowerUsage", api.power);
  find(library, "nvmlDeviceGetPowerManagementLimit", api.power_limit);
  find(library, "nvmlDeviceGetPowerManagementDefaultLimit", api.power_default);
  find(library, "nvmlDeviceGetPowerManagementLimitConstraints", api.power_constraints);
  find(library, "nvmlDeviceGetEnforcedPowerLimit", api.enforced_limit);
  find(library, "nvmlDeviceGetTotalEnergyConsumption", api.energy);
  find(library, "nvmlDeviceGetClockInfo", api.clock);
  find(library, "nvmlDeviceGetPerformanceState", api.pstate);
  find(library, "nvmlDeviceGetFanSpeed", api.fan);
  find(library, "nvmlDeviceGetUtilizationRates", api.utilization);
  find(library, "nvmlDeviceGetEncoderUtilization", api.encoder);
  find(library, "nvmlDeviceGetDecoderUtilization", api.decoder);
  find(library, "nvmlDeviceGetMemoryInfo", api.memory);
  find(library, "nvmlDeviceGetMemoryInfo_v2", api.memory_v2);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons", api.event_reasons);
  find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", api.event_reasons);
  find(library, "nvmlDeviceGetFieldValues", api.fields);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", api.processes);
  find(library, "nvmlDeviceGetBAR1MemoryInfo", api.bar1);
}

void find_errors(void* library, NvmlApi& api) {
  find(library, "nvmlDeviceGetTotalEccErrors", api.ecc);
  find(library, "nvmlDeviceGetRemappedRows", api.remapped);
  find(library, "nvmlDeviceGetRowRemapperHistogram", api.remap_histogram);
  find(library, "nvmlDeviceGetRetiredPages", api.retired);
  find(library, "nvmlDeviceGetRetiredPagesPendingStatus", api.retired_pending);
  find(library, "nvmlDeviceGetPcieReplayCounter", api.replay);
  find(library, "nvmlDeviceGetCurrPcieLinkGeneration", api.link_gen);
  find(library, "nvmlDeviceGetCurrPcieLinkWidth", api.link_width);
  find(library, "nvmlDeviceGetMaxPcieLinkGeneration", api.max_link_gen);
  find(library, "nvmlDeviceGetMaxPcieLinkWidth", api.max_link_width);
  find(library, "nvmlDeviceGetNvLinkState", api.nvlink_state);
  find(library, "nvmlDeviceGetNvLinkErrorCounter", api.nvlink_errors);
}

void find_instances(void* library, NvmlApi& api) {
  find(library, "nvmlDeviceGetPcieThroughput", api.pcie_throughput);
  find(library, "nvmlDeviceGetMaxMigDeviceCount", api.mig_count);
  find(library, "nvmlDeviceGetMigDeviceHandleByIndex", api.mig_handle);
  find(library, "nvmlDeviceGetGpuInstanceId", api.gpu_instance);
  find(library, "nvmlDeviceGetComputeInstanceId", api.compute_instance);
  find(library, "nvmlGpmQueryDeviceSupport", api.gpm_support);
  find(library, "nvmlGpmSampleAlloc", api.gpm_alloc);
  find(library, "nvmlGpmSampleFree", api.gpm_free);
  find(library, "nvmlGpmSampleGet", api.gpm_sample);
  find(library, "nvmlGpmMetricsGet", api.gpm_metrics);
}

}  // namespace

NvmlApi::~NvmlApi() {
  if (initialised && shutdown != nullptr) shutdown();
  if (library != nullptr) dlclose(library);
}

Result<NvmlOpened> open_nvml(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Status::not_found(reason != nullptr ? reason : name + " cannot be opened");
  }
  NvmlOpened opened;
  opened.api = std::make_shared<NvmlApi>();
  NvmlApi& api = *opened.api;
  api.library = library;
  find_identity(library, api);
  find_readings(library, api);
  find_errors(library, api);
  find_instances(library, api);
  if (api.init == nullptr || api.count == nullptr || api.handle == nullptr)
    return Status::not_found(name + " is no NVML: it lacks nvmlInit_v2 and the like");
  opened.result = api.init();
  api.initialised = opened.result == kNvmlSuccess;
  return opened;
}

}  // namespace vagt::agent
