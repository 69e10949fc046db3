// GPUs through NVML: one thread for each, because a sick GPU blocks every call for seconds.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "node-agent/gpu/nvml_api.h"
#include "node-agent/gpu/reading.h"

namespace vagt::agent {

class NvmlSource {
 public:
  struct Options {
    std::string library = "libnvidia-ml.so.1";
    std::chrono::milliseconds call_deadline = std::chrono::seconds(2);
    std::chrono::milliseconds nvlink_every = std::chrono::seconds(60);
    bool gpm = false, pcie_throughput = false, processes = false;
  };
  explicit NvmlSource(Options options);
  ~NvmlSource();  // threads that hang in a call are left behind with what they use

  // Asks every GPU at once and waits until all have answered or hang for the call deadline; those
  // are `kGpuDeadline` and not up. NotFound: no library. Unavailable: the driver does not answer;
  // the session is opened anew next time.
  Result<GpuSnapshot> read();
  // Lets go of the driver, so that it can be reloaded or a GPU reset; the next read() opens anew.
  void release();
  // The last init failed since kernel and user-space driver differ.
  bool driver_mismatch() const { return mismatch_; }

 private:
  struct Watcher;
  Status open();
  GpuReading stuck_reading(const Watcher& watcher, unsigned index) const;

  const Options options_;
  std::shared_ptr<NvmlApi> api_;
  std::vector<std::shared_ptr<Watcher>> watchers_;  // by NVML index
  bool mismatch_ = false;
};

}  // namespace vagt::agent
