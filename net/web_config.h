// The file of --web.config.file, as Prometheus's exporters have it: TLS, passwords, headers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/time.h"
#include "net/http_server.h"

namespace vagt::net {

struct WebTls {
  std::string cert_file, key_file, cert;  // files, or PEM text
  Secret key;
  std::string client_auth_type = "NoClientCert", client_ca_file, client_ca;
  std::vector<std::string> client_allowed_sans;
  std::string min_version = "TLS12", max_version = "TLS13";
  std::vector<std::string> cipher_suites, curve_preferences;  // Go's names; none: the library's
  bool prefer_server_cipher_suites = true;
};

struct WebConfig {
  std::optional<WebTls> tls;  // unset: plain HTTP
  bool http2 = true;          // accepted; HTTP/1.1 is spoken
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, Secret> users;  // name → bcrypt hash; none: no password is asked for
};

// Errors begin with file:line:column. Files that it names are not opened.
Result<WebConfig> load_web_config(const std::string& path);

// For ServerOptions::security. The file, and those it names, are read again when they change; what
// does not load leaves the last good one in force, and is logged. Whether TLS is spoken stays as it
// was at the start.
// Looked for are changes at most every `look_every`.
Result<std::shared_ptr<WebSecurity>> open_web_config(const std::string& path, base::Logger log,
                                                     Duration look_every = std::chrono::seconds(1));

}  // namespace vagt::net
