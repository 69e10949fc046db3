// What stands between the network and a server's handler: TLS and passwords. Inside net/ only.
#pragma once

#include "net/server/connection.h"

namespace vagt::net {

// Any thread.
class WebSecurity {
 public:
  virtual ~WebSecurity() = default;
  // As make_connection() of connection.h, with TLS where that is asked for.
  virtual std::shared_ptr<Connection> make_connection(boost::asio::ip::tcp::socket socket,
                                                      ServerContext& context,
                                                      std::weak_ptr<void> owner) = 0;
  // A handler that lets only those through who may, and adds the configured headers.
  virtual Handler guard(Handler handler) = 0;
};

}  // namespace vagt::net
