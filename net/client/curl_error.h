// libcurl's failures as Status, in the words Prometheus's users know.
#pragma once

#include <curl/curl.h>

#include <string>

#include "base/status.h"

namespace vagt::net {

// `easy` is the handle the transfer ran on; `detail` its CURLOPT_ERRORBUFFER. The text names host
// and port, never the rest of the URL.
Status curl_failure(CURL* easy, CURLcode code, const std::string& host, const std::string& port,
                    const std::string& detail);

}  // namespace vagt::net
