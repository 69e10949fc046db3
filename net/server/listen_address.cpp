#include "net/server/listen_address.h"

#include <algorithm>

namespace vagt::net {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::string where = "address " + std::string(text);
  const size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  if (!has_port) return Status::invalid(where + ": missing port in address");
  ListenAddress out;
  out.port = text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Status::invalid(where + ": too many colons in address");
  }
  out.host = host;
  const bool is_number =
      !out.port.empty() &&
      std::all_of(out.port.begin(), out.port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || out.port.size() > 5 || std::stoi(out.port) > 65535) {
    return Status::invalid(where + ": invalid port");
  }
  return out;
}

}  // namespace vagt::net
