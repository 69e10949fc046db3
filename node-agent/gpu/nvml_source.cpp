#include "node-agent/gpu/nvml_source.h"

#include <fmt/core.h>

#include <algorithm>

#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "node-agent/gpu/gpm.h"
#include "node-agent/gpu/nvml_read.h"

namespace vagt::agent {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// One GPU's thread and what it last read. Shared with the thread, which may outlive everybody.
struct NvmlSource::Watcher {
  base::Mutex mutex;
  base::CondVar changed;
  bool asked VAGT_GUARDED_BY(mutex) = false;
  bool reading VAGT_GUARDED_BY(mutex) = false;
  bool stopping VAGT_GUARDED_BY(mutex) = false;
  Clock::time_point call_began VAGT_GUARDED_BY(mutex){};
  GpuReading last VAGT_GUARDED_BY(mutex);  // with the identity of the last good answer
  std::vector<NvlinkReading> nvlinks VAGT_GUARDED_BY(mutex);
  Clock::time_point nvlinks_read VAGT_GUARDED_BY(mutex){};

  static void run(const std::shared_ptr<Watcher>& self, const std::shared_ptr<NvmlApi>& api,
                  unsigned index, const Options& options) VAGT_NO_THREAD_ANALYSIS {
    base::set_thread_name("nvml-" + std::to_string(index));
    const auto before_call = [&self] {
      base::MutexLock lock(self->mutex);
      self->call_began = Clock::now();
    };
    GpmSampler gpm(api);
    std::unique_lock<base::Mutex> lock(self->mutex);
    while (true) {
      self->changed.wait(
          lock, [&self]() VAGT_NO_THREAD_ANALYSIS { return self->asked || self->stopping; });
      if (self->stopping) return;
      self->asked = false;
      const bool nvlink = Clock::now() - self->nvlinks_read >= options.nvlink_every;
      lock.unlock();
      GpuReading reading = read_nvml_gpu(
          *api, index, {nvlink, options.pcie_throughput, options.processes}, before_call);
      if (options.gpm) gpm.read(index, reading, before_call);
      lock.lock();
      if (nvlink && reading.up) {
        self->nvlinks = reading.nvlinks;
        self->nvlinks_read = Clock::now();
      }
      reading.nvlinks = self->nvlinks;
      // A lost GPU does not say who it is: it keeps its name.
      if (reading.uuid.empty()) {
        reading.uuid = self->last.uuid;
        reading.pci_bus_id = self->last.pci_bus_id;
      }
      self->last = std::move(reading);
      self->reading = false;
      self->changed.notify_all();
    }
  }
};

NvmlSource::NvmlSource(Options options) : options_(std::move(options)) {}

NvmlSource::~NvmlSource() { release(); }

void NvmlSource::release() {
  for (const auto& watcher : watchers_) {
    base::MutexLock lock(watcher->mutex);
    watcher->stopping = true;
    watcher->changed.notify_all();
  }
  watchers_.clear();
  api_.reset();
}

Status NvmlSource::open() {
  if (api_ != nullptr) return {};
  VAGT_TRY(NvmlOpened opened, open_nvml(options_.library));
  mismatch_ = opened.result == kNvmlLibRmVersionMismatch;
  if (opened.result != kNvmlSuccess)
    return Status(Code::Unavailable, fmt::format("nvmlInit_v2 returned {}{}", opened.result,
                                                 mismatch_ ? ": driver and library differ" : ""));
  api_ = std::move(opened.api);
  return {};
}

Result<GpuSnapshot> NvmlSource::read() VAGT_NO_THREAD_ANALYSIS {
  VAGT_CHECK_OK(open());
  unsigned count = 0;
  if (const int result = api_->count(&count); result != kNvmlSuccess) {
    release();  // the driver was unloaded under us
    return Status(Code::Unavailable, fmt::format("nvmlDeviceGetCount_v2 returned {}", result));
  }
  constexpr unsigned kMaxGpus = 64;
  count = std::min(count, kMaxGpus);
  while (watchers_.size() < count) {
    watchers_.push_back(std::make_shared<Watcher>());
    const auto index = static_cast<unsigned>(watchers_.size() - 1);
    std::thread([watcher = watchers_.back(), api = api_, index, options = options_] {
      Watcher::run(watcher, api, index, options);
    }).detach();
  }
  GpuSnapshot snapshot;
  read_nvml_versions(*api_, snapshot);
  for (unsigned i = 0; i < count; ++i) {
    base::MutexLock lock(watchers_[i]->mutex);
    if (watchers_[i]->reading) continue;  // still hangs from the round before
    watchers_[i]->reading = watchers_[i]->asked = true;
    watchers_[i]->call_began = Clock::now();
    watchers_[i]->changed.notify_all();
  }
  for (unsigned i = 0; i < count; ++i) {
    Watcher& watcher = *watchers_[i];
    std::unique_lock<base::Mutex> lock(watcher.mutex);
    // Each call gets the deadline, not the pass: a slow GPU that goes on is waited for.
    while (watcher.reading && Clock::now() - watcher.call_began < options_.call_deadline)
      watcher.changed.wait_until(lock, watcher.call_began + options_.call_deadline);
    snapshot.gpus.push_back(watcher.reading ? stuck_reading(watcher, i) : watcher.last);
  }
  return snapshot;
}

GpuReading NvmlSource::stuck_reading(const Watcher& watcher,
                                     unsigned index) const VAGT_NO_THREAD_ANALYSIS {
  GpuReading reading;
  reading.index = std::to_string(index);
  reading.uuid = watcher.last.uuid;
  reading.pci_bus_id = watcher.last.pci_bus_id;
  reading.error = kGpuDeadline;
  reading.up = false;
  return reading;
}

}  // namespace vagt::agent
