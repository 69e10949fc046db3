// The HTTP client options that Prometheus and Alertmanager configuration share.
#pragma once

#include <string>

#include "base/status.h"
#include "base/yaml.h"
#include "net/http_client.h"

namespace vagt::config {

// Reads basic_auth, authorization, bearer_token[_file], oauth2, tls_config, proxy_url, no_proxy,
// proxy_from_environment, proxy_connect_header, http_headers, follow_redirects and enable_http2 out
// of `fields` (they stand beside the section's other keys). Relative files are resolved against
// `base_dir`. Errors go to fields.fail().
void read_http_config(base::YamlFields& fields, const std::string& base_dir,
                      net::HttpClientConfig& out);

// The tls_config section alone (smtp_tls_config).
Status read_tls_config(const base::YamlNode& node, const std::string& base_dir,
                       net::TlsOptions& out);

// `path` as written, or joined to `base_dir` when relative; "" stays "".
std::string resolve_path(const std::string& base_dir, const std::string& path);

}  // namespace vagt::config
