// What the GPU collector and the kernel-log reader tell each other: which GPU sits at a PCI
// address, and which serious XIDs it had.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/time.h"

namespace vagt::agent {

// Any thread.
class GpuDirectory {
 public:
  struct Identity {
    std::string index, uuid;
  };
  struct Xids {
    std::optional<Timestamp> last_page, last_ticket;  // by XID.md's severity
    int last_page_code = 0;
  };

  void set_identity(std::string_view pci_bus_id, Identity identity) VAGT_EXCLUDES(mutex_);
  std::optional<Identity> identity(std::string_view pci_bus_id) const VAGT_EXCLUDES(mutex_);
  void set_xids(std::string_view pci_bus_id, Xids xids) VAGT_EXCLUDES(mutex_);
  Xids xids(std::string_view pci_bus_id) const VAGT_EXCLUDES(mutex_);

  // Until then the driver is not to be touched; default: it may be. `POST /-/gpu/release` asks it.
  void release_until(Timestamp until) VAGT_EXCLUDES(mutex_);
  Timestamp released_until() const VAGT_EXCLUDES(mutex_);

  // NVML writes `00000000:1B:00.0`, sysfs and the kernel log `0000:1b:00.0` or `0000:1b:00`: the
  // form of sysfs. "" stays "".
  static std::string normal(std::string_view pci_bus_id);

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, Identity> identities_ VAGT_GUARDED_BY(mutex_);
  std::map<std::string, Xids> xids_ VAGT_GUARDED_BY(mutex_);
  Timestamp released_until_ VAGT_GUARDED_BY(mutex_){};
};

}  // namespace vagt::agent
