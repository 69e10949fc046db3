// "127.0.0.1:9090", ":9090", "[::1]:9090" as the flags spell them.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::net {

struct ListenAddress {
  std::string host;  // without brackets; "" is every address of the machine
  std::string port;
};
// InvalidArgument: "address 9090: missing port in address"
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace vagt::net
