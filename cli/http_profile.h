// --http.config.file: how to reach the server.
#pragma once

#include <memory>
#include <string>

#include "net/http_client.h"

namespace vagt::cli {

// "" gives the defaults. Errors name file, line and column.
Result<std::shared_ptr<const net::HttpClientConfig>> load_http_profile(const std::string& path);
// Adds http:// where no scheme stands, drops slashes at the end.
std::string base_url(const std::string& text);
// The same without user and password, for messages.
std::string shown_url(const std::string& text);

}  // namespace vagt::cli
