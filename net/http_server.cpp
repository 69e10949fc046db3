#include "net/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/error.hpp>
#include <cctype>
#include <thread>
#include <utility>

#include "net/server/connection.h"
#include "net/server/listen_address.h"
#include "net/server/web_security.h"

namespace vagt::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAcceptBackOff = std::chrono::milliseconds(100);  // out of file descriptors

struct Core;

// Accepts on one address. Its io_context may have many threads; the strand makes it one at a time.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(asio::io_context& io, std::weak_ptr<Core> core, ServerContext& context)
      : io_(io),
        acceptor_(asio::make_strand(io)),
        pause_(acceptor_.get_executor()),
        core_(std::move(core)),
        context_(context) {}

  Status bind(const std::string& address);
  uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void start() {
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] { self->await_client(); });
  }
  void stop() {
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] {
      error_code ignored;
      self->acceptor_.close(ignored);
      self->pause_.cancel();
    });
  }

 private:
  error_code open(const tcp::endpoint& endpoint);
  void await_client();
  void on_client();
  void accept();

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  const std::weak_ptr<Core> core_;
  ServerContext& context_;
  bool is_failing_ = false;
};

// Outlives every connection and every request under way; see Exchange in connection.cpp.
struct Core {
  explicit Core(std::unique_ptr<ServerContext> given)
      : context(std::move(given)), io(static_cast<int>(context->options.threads)) {}
  std::unique_ptr<ServerContext> context;
  asio::io_context io;  // destroyed first: it holds connections
};

// Connections may not take the descriptors that scraping, paging and the store need. As many are
// left to those as to the connections, and not fewer than some.
size_t affordable_connections(size_t wanted) {
  constexpr size_t kReserved = 48, kFewest = 8;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const size_t spare = limit.rlim_cur > kReserved ? limit.rlim_cur - kReserved : 0;
  return std::min(wanted, std::max(spare / 2, kFewest));
}

Status bind_failure(const std::string& address, std::string why) {
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return {Code::Unavailable, "listen tcp " + address + ": bind: " + why};
}

error_code Listener::open(const tcp::endpoint& endpoint) {
  error_code error;
  acceptor_.close(error);
  acceptor_.open(endpoint.protocol(), error);
  if (error) return error;
  acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (endpoint.protocol() == tcp::v6()) {
    const bool is_every_address = endpoint.address().is_unspecified();
    acceptor_.set_option(asio::ip::v6_only(!is_every_address), error);
  }
  acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

Status Listener::bind(const std::string& address) {
  auto parsed = parse_listen_address(address);
  if (!parsed) return std::move(parsed).error().at("listen tcp");
  const auto port = static_cast<uint16_t>(std::stoi(parsed->port));
  error_code error;
  if (parsed->host.empty()) {  // both families where the machine has both
    error = open({tcp::v6(), port});
    if (error == asio::error::address_family_not_supported) error = open({tcp::v4(), port});
    return error ? bind_failure(address, error.message()) : Status();
  }
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(parsed->host, parsed->port, tcp::resolver::passive, error);
  if (error || found.empty())
    return bind_failure(address, "lookup " + parsed->host + ": no such host");
  error = open(found.begin()->endpoint());
  return error ? bind_failure(address, error.message()) : Status();
}

void Listener::await_client() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](error_code error) {
    if (!error) self->on_client();
  });
}

// At the limit the client waits in the kernel's queue until a connection ends, the longest idle one
// by our hand.
void Listener::on_client() {
  ConnectionList& connections = context_.connections;
  const auto try_again = [weak = weak_from_this(), executor = acceptor_.get_executor()] {
    if (const auto self = weak.lock()) asio::post(executor, [self] { self->await_client(); });
  };
  if (!connections.wait_for_room(context_.options.max_connections, try_again)) return accept();
  if (const auto idle = connections.longest_idle()) idle->close_if_idle();
}

void Listener::accept() {
  acceptor_.async_accept(
      asio::make_strand(io_), [self = shared_from_this()](error_code error, tcp::socket socket) {
        if (!self->acceptor_.is_open()) return;
        if (error) {
          if (!std::exchange(self->is_failing_, true)) {
            self->context_.log.error("cannot accept connections", {{"error", error.message()}});
          }
          self->pause_.expires_after(kAcceptBackOff);
          self->pause_.async_wait([self](error_code) { self->await_client(); });
          return;
        }
        self->is_failing_ = false;
        socket.set_option(tcp::no_delay(true), error);
        WebSecurity* const security = self->context_.options.security.get();
        const auto connection =
            security != nullptr
                ? security->make_connection(std::move(socket), self->context_, self->core_)
                : make_connection(std::move(socket), self->context_, self->core_);
        connection->start();
        self->await_client();
      });
}

}  // namespace

struct HttpServer::Impl {
  std::shared_ptr<Core> core;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<uint16_t> ports;
  std::vector<std::jthread> threads;
  bool is_stopped = false;

  // A handler's own exceptions are caught nearer; this keeps a thread alive whatever else may be
  // thrown.
  static void run(Core& core) {
    while (true) {
      try {
        core.io.run();
        return;
      } catch (const std::exception& failure) {
        core.context->log.error("a connection failed", {{"error", failure.what()}});
      }
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::start(ServerOptions options, Handler handler,
                                                      base::Logger log) {
  auto origins = Regex::compile(options.cors_origin);
  if (!origins) return std::move(origins).error().at("CORS origin");
  const std::vector<std::string> addresses = options.listen;
  const size_t threads = std::max<size_t>(1, options.threads);
  options.threads = threads;
  const size_t affordable = affordable_connections(options.max_connections);
  if (affordable < options.max_connections) {
    log.warn("fewer connections than asked for: the limit of file descriptors is low",
             {{"connections", affordable}, {"asked", options.max_connections}});
    options.max_connections = affordable;
  }
  if (options.security) handler = options.security->guard(std::move(handler));
  auto impl = std::make_unique<Impl>();
  impl->core = std::make_shared<Core>(std::make_unique<ServerContext>(
      std::move(options), std::move(handler), std::move(log), std::move(*origins)));
  for (const std::string& address : addresses) {
    auto listener = std::make_shared<Listener>(impl->core->io, impl->core, *impl->core->context);
    VAGT_CHECK_OK(listener->bind(address));
    impl->ports.push_back(listener->port());
    impl->listeners.push_back(std::move(listener));
  }
  for (const auto& listener : impl->listeners) listener->start();
  for (size_t i = 0; i < threads; ++i) {
    impl->threads.emplace_back([core = impl->core.get()] { Impl::run(*core); });
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::stop(Duration grace) {
  if (std::exchange(impl_->is_stopped, true)) return;
  ConnectionList& connections = impl_->core->context->connections;
  for (const auto& listener : impl_->listeners) listener->stop();
  for (const auto& connection : connections.all()) connection->finish_and_close();
  if (!connections.wait_until_empty(grace)) {
    for (const auto& connection : connections.all()) connection->hang_up();
    connections.wait_until_empty(std::chrono::milliseconds(100));
  }
  impl_->core->io.stop();
  impl_->threads.clear();  // joins
  connections.forget_waiting();
  impl_->listeners.clear();
}

std::vector<uint16_t> HttpServer::ports() const { return impl_->ports; }

}  // namespace vagt::net
