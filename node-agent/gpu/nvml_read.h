// One pass over a GPU's NVML functions.
#pragma once

#include <functional>

#include "node-agent/gpu/nvml_api.h"
#include "node-agent/gpu/reading.h"

namespace vagt::agent {

struct NvmlAsk {
  bool nvlink = false;           // many calls
  bool pcie_throughput = false;  // 40 ms of sampling
  bool processes = false;        // who they are, not only how many
};
// Reads all there is of GPU `index`. `before_call` runs before each library call, since any of them
// may block: the caller watches the time. Never fails: the reading says what is wrong.
GpuReading read_nvml_gpu(const NvmlApi& api, unsigned index, NvmlAsk ask,
                         const std::function<void()>& before_call);
// Versions of the driver.
void read_nvml_versions(const NvmlApi& api, GpuSnapshot& snapshot);

}  // namespace vagt::agent
