// dns_sd_configs: the records of a few names, looked up every now and then.
#pragma once

#include <map>
#include <memory>

#include "scrape/discovery/discovery_source.h"

namespace vagt::scrape {

struct DnsDiscoveryOptions {
  std::string resolv_conf = "/etc/resolv.conf";  // read with each round
  uint16_t port = 53;                            // of the name servers
};

// `registry` outlives it.
std::unique_ptr<DiscoverySource> make_dns_discovery(DnsDiscoveryConfig config,
                                                    DnsDiscoveryOptions options,
                                                    base::Registry& registry);

}  // namespace vagt::scrape
