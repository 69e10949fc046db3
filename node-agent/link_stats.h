// Counters of all network interfaces from the kernel, by netlink: one question, and rx_nohandler is
// only there.
#pragma once

#include <linux/if_link.h>

#include <string>
#include <vector>

#include "base/status.h"

namespace vagt::agent {

struct LinkStats {
  std::string device;
  rtnl_link_stats64 stats;
};

// Io: the socket or the dump failed.
Result<std::vector<LinkStats>> read_link_stats();

}  // namespace vagt::agent
