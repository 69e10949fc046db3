// Every GPU seen since this boot, over restarts of the agent: one that is gone reads 0, and not
// nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node-agent/gpu/directory.h"
#include "node-agent/gpu/reading.h"
#include "node-agent/sources.h"

namespace vagt::agent {

class KnownGpus {
 public:
  // Reads the state file of this boot.
  explicit KnownGpus(const Sources& sources);

  // Remembers who is there, on disk too when somebody is new. Readings without a UUID are skipped.
  void see(const std::vector<GpuReading>& present);
  // vagt_gpu_up 0 for the missing, how many there should be (`expected`, or all that were ever
  // seen), links each GPU should have.
  void write_missing(MetricSink& sink, const std::vector<GpuReading>& present,
                     std::optional<double> expected) const;

  // 0 ok, 1 attention, 2 needs a reset, 3 lost. `now` for what must have lasted a while.
  int health(const GpuReading& gpu, Timestamp now);

 private:
  struct Known {
    std::string index, pci_bus_id;
    size_t nvlinks = 0;            // the most that were active
    std::optional<double> energy;  // goes back to 0 at a reset
    std::optional<Timestamp> reset_at, margin_low_since;
  };
  bool is_on_bus(const std::string& pci_bus_id) const;
  bool needs_reset(const GpuReading& gpu, const Known& known) const;
  bool wants_attention(const GpuReading& gpu, Known& known, Timestamp now) const;
  void load();
  void save() const;

  const std::string pci_, state_path_, boot_id_;
  const bool recorded_;
  const std::shared_ptr<StateHealth> state_;
  const base::Logger log_;
  std::shared_ptr<GpuDirectory> directory_;
  std::map<std::string, Known> known_;  // by UUID
};

}  // namespace vagt::agent
