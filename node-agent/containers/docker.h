// Containers as Docker's and Podman's API tells of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "node-agent/collector.h"

namespace vagt::agent {

// Ids of `GET /containers/json?all=1`. InvalidArgument: not such a document.
Result<std::vector<std::string>> parse_container_list(std::string_view json);
// Writes the families of one `GET /containers/ID/json`, or of an array of such. InvalidArgument:
// not such a document.
Status write_containers(MetricSink& sink, std::string_view json, std::string_view runtime);

// One GET over a unix socket: the body of a 200. Timeout: no whole answer within the deadline.
// Unavailable: another status. NotFound: no such socket. LimitExceeded: more than 16 MiB.
Result<std::string> get_over_unix_socket(const std::string& socket_path, const std::string& path,
                                         std::chrono::milliseconds deadline);

}  // namespace vagt::agent
