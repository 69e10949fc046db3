// All network interfaces from the kernel, by netlink: one question instead of a dozen files each,
// and rx_nohandler is only there.
#pragma once

#include <linux/if_link.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace vagt::agent {

struct Link {
  std::string device;
  int index = 0;
  unsigned flags = 0;  // IFF_…
  std::optional<uint32_t> mtu, tx_queue_len, carrier, carrier_changes, carrier_up, carrier_down;
  uint8_t operstate = 0;                  // IF_OPER_…
  std::string address, broadcast, alias;  // addresses as `00:1a:…`
  rtnl_link_stats64 stats{};
};

// Keeps its socket and its buffers. One thread.
class LinkReader {
 public:
  enum class Stats : uint8_t { Without, With };
  explicit LinkReader(Stats stats) : with_stats_(stats == Stats::With) {}
  ~LinkReader();
  LinkReader(const LinkReader&) = delete;
  LinkReader& operator=(const LinkReader&) = delete;

  // Valid until the next call. Io: the socket or the dump failed.
  Result<std::span<const Link>> read();

 private:
  Status open();
  Status dump();
  Status take(const char* data, size_t size, uint32_t sequence, bool& done);

  const bool with_stats_;
  int fd_ = -1;
  uint32_t sequence_ = 0;
  std::vector<Link> links_;  // the first count_ are of this dump
  size_t count_ = 0;
  std::vector<char> buffer_;
};

// "up", "down", … as /sys/class/net/*/operstate has it.
std::string_view operstate_name(uint8_t operstate);

}  // namespace vagt::agent
