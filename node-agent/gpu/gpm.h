// Profiling ratios of Hopper and later: what changed between two samples of the GPU's counters.
#pragma once

#include <functional>
#include <memory>

#include "node-agent/gpu/nvml_api.h"
#include "node-agent/gpu/reading.h"

namespace vagt::agent {

class GpmSampler {
 public:
  explicit GpmSampler(std::shared_ptr<NvmlApi> api) : api_(std::move(api)) {}
  ~GpmSampler();
  GpmSampler(const GpmSampler&) = delete;
  GpmSampler& operator=(const GpmSampler&) = delete;

  // Takes a sample and fills the ratios since the one before; nothing where the card has no GPM,
  // and at the first call.
  void read(unsigned index, GpuReading& gpu, const std::function<void()>& before_call);

 private:
  bool prepare(NvmlDevice device);

  const std::shared_ptr<NvmlApi> api_;
  NvmlGpmSample older_ = nullptr, newer_ = nullptr;
  bool asked_ = false, supported_ = false, has_older_ = false;
};

}  // namespace vagt::agent
