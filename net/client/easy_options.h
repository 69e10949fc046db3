// TLS and proxy settings of one transfer, for HTTP and SMTP alike.
#pragma once

#include <curl/curl.h>

#include "base/status.h"
#include "net/http_client.h"

namespace vagt::net {

// `loaded` comes from load_tls. The handle copies what it needs.
Status apply_tls(CURL* easy, const TlsOptions& loaded);

}  // namespace vagt::net
