#include "node-agent/gpu/gpm.h"

#include <utility>

namespace vagt::agent {
namespace {

struct GpmFamily {
  unsigned metric;  // nvmlGpmMetricId_t
  GpuField field;
};
// Percent in NVML, ratios in DCGM.
constexpr GpmFamily kGpmFamilies[] = {{1, GpuField::ProfGrEngine},    {2, GpuField::ProfSmActive},
                                      {3, GpuField::ProfSmOccupancy}, {5, GpuField::ProfTensor},
                                      {10, GpuField::ProfDram},       {11, GpuField::ProfFp64},
                                      {12, GpuField::ProfFp32},       {13, GpuField::ProfFp16}};

}  // namespace

GpmSampler::~GpmSampler() {
  if (api_->gpm_free == nullptr) return;
  for (NvmlGpmSample sample : {older_, newer_})
    if (sample != nullptr) api_->gpm_free(sample);
}

bool GpmSampler::prepare(NvmlDevice device) {
  if (asked_) return supported_;
  asked_ = true;
  if (api_->gpm_support == nullptr || api_->gpm_alloc == nullptr || api_->gpm_free == nullptr ||
      api_->gpm_sample == nullptr || api_->gpm_metrics == nullptr)
    return false;
  NvmlGpmSupport support{1, 0};
  if (api_->gpm_support(device, &support) != kNvmlSuccess || support.supported == 0) return false;
  supported_ = api_->gpm_alloc(&older_) == kNvmlSuccess && api_->gpm_alloc(&newer_) == kNvmlSuccess;
  return supported_;
}

void GpmSampler::read(unsigned index, GpuReading& gpu, const std::function<void()>& before_call) {
  if (!gpu.up) {
    has_older_ = false;
    return;
  }
  NvmlDevice device = nullptr;
  before_call();
  if (api_->handle(index, &device) != kNvmlSuccess || !prepare(device)) return;
  before_call();
  if (api_->gpm_sample(device, newer_) != kNvmlSuccess) return;
  std::swap(older_, newer_);  // older_ is now the fresh one
  if (!std::exchange(has_older_, true)) return;
  NvmlGpmMetrics request{};
  request.version = 1;
  request.sample1 = newer_;
  request.sample2 = older_;
  for (const GpmFamily& family : kGpmFamilies) request.metrics[request.count++].id = family.metric;
  before_call();
  if (api_->gpm_metrics(&request) != kNvmlSuccess) return;
  for (unsigned i = 0; i < request.count; ++i) {
    const NvmlGpmMetric& metric = request.metrics[i];
    if (metric.result == kNvmlSuccess && metric.value >= 0 && metric.value <= 100.001)
      gpu[kGpmFamilies[i].field] = metric.value / 100;
  }
}

}  // namespace vagt::agent
