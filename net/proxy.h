// Which proxy a request goes through.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace vagt::net {

// Reads one environment variable; "" when unset. Handed in, so that tests need not change the
// process.
using Environment = std::function<std::string(const char*)>;
std::string process_environment(const char* name);

// The proxy's URL for a request to `target`, "" for none. With a no_proxy list, and with the
// environment's settings, localhost and loopback addresses are never proxied (as Go's httpproxy has
// it); a bare proxy_url proxies everything.
std::string choose_proxy(const HttpClientConfig& config, const UrlParts& target,
                         const Environment& environment = process_environment);

// Go's rules: "*", host names with their subdomains (".example.com": only these), addresses, CIDR
// ranges, each with an optional port.
bool is_excluded_from_proxy(std::string_view no_proxy, std::string_view host,
                            std::string_view port);

}  // namespace vagt::net
