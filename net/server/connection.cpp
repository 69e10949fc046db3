#include "net/server/connection.h"

#include "net/server/stream_connection.h"

namespace vagt::net {
namespace {

struct OpenAtOnce {
  template <class Then>
  void operator()(beast::tcp_stream&, Then then) const {
    then(error_code());
  }
};

}  // namespace

std::shared_ptr<Connection> make_connection(asio::ip::tcp::socket socket, ServerContext& context,
                                            std::weak_ptr<void> owner) {
  return std::make_shared<StreamConnection<beast::tcp_stream, OpenAtOnce>>(
      beast::tcp_stream(std::move(socket)), OpenAtOnce(), context, std::move(owner));
}

}  // namespace vagt::net
