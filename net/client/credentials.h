// What a request needs from files at the moment it is sent, and the headers it makes of it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "net/http_client.h"

namespace vagt::net {

// A file's text without white space at its ends; errors name the path.
Result<std::string> read_secret_file(const std::string& path);

std::string base64(std::string_view bytes);
std::string basic_header(std::string_view user, std::string_view password);

// The value of the Authorization header that basic_auth or authorization asks for; "" for neither.
Result<std::string> authorization_header(const HttpClientConfig& config);

// TlsOptions with every file read into ca, cert and key, so that a changed file makes a new
// connection.
Result<TlsOptions> load_tls(const TlsOptions& options);

}  // namespace vagt::net
