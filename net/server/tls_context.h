// A server's side of TLS as OpenSSL takes it. Inside net/ only.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "net/web_config.h"

namespace vagt::net {

// Io: a file cannot be read; InvalidArgument: what it holds is of no use. The text names it.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const WebTls& tls);

}  // namespace vagt::net
