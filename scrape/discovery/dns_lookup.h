// Asks the name servers of resolv.conf, over UDP and, where an answer does not fit, TCP.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"
#include "scrape/discovery/dns_message.h"

namespace vagt::scrape {

struct DnsServers {
  std::vector<std::string> addresses;
  uint16_t port = 53;
  std::vector<std::string> search;
  int dots = 1;  // a name with as many is tried as it stands first
  // For one server to answer; resolv.conf's `timeout` option.
  Duration timeout = std::chrono::seconds(2);
};

// Io: not readable. A file without servers means 127.0.0.1, as everywhere.
Result<DnsServers> read_resolv_conf(const std::string& path);

// The spellings of `name` to try, each with its final dot.
std::vector<std::string> dns_name_list(const DnsServers& servers, const std::string& name);

// The records of `name`, search list applied; none when every server agrees that there is no such
// name. Unavailable: no server gave an answer one can rely on. Cancelled: `stop`.
Result<std::vector<DnsRecord>> lookup_dns(const DnsServers& servers, const std::string& name,
                                          DnsType type, const std::stop_token& stop);

}  // namespace vagt::scrape
