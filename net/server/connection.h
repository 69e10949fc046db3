// One accepted connection, as the listener sees it; Beast stays in connection.cpp. Inside net/
// only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/regex.h"
#include "net/body_budget.h"
#include "net/http_server.h"

namespace vagt::net {

// Any thread; the work happens on the connection's strand.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  virtual bool is_idle() const = 0;  // between two requests
  virtual void close_if_idle() = 0;
  virtual void finish_and_close() = 0;  // after the answer under way; at once when idle
  virtual void hang_up() = 0;           // now; the request under way is told
};

// The connections alive, for the limit and for stopping. Any thread.
class ConnectionList {
 public:
  using Entry = std::list<std::weak_ptr<Connection>>::iterator;

  Entry add();
  void name(Entry entry, std::weak_ptr<Connection> connection);
  void remove(Entry entry);
  void move_to_end(Entry entry);  // has just become idle: the front ones have been so for longest
  std::vector<std::shared_ptr<Connection>> all() const;
  std::shared_ptr<Connection> longest_idle() const;
  bool wait_until_empty(Duration grace) const;

  // False when there are fewer than `limit`; else `call` runs once after the next remove(). While
  // somebody waits, connections are not kept alive between requests.
  bool wait_for_room(size_t limit, std::function<void()> call);
  bool is_awaited() const;
  void forget_waiting();

 private:
  mutable base::Mutex mutex_;
  mutable base::CondVar removed_;
  std::list<std::weak_ptr<Connection>> list_ VAGT_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> on_room_ VAGT_GUARDED_BY(mutex_);
};

// What all connections of a server share; outlives them.
struct ServerContext {
  ServerContext(ServerOptions given, Handler takes, base::Logger logger, Regex regex)
      : options(std::move(given)),
        handler(std::move(takes)),
        log(std::move(logger)),
        origins(std::move(regex)),
        is_any_origin_allowed(options.cors_origin == ".*") {}

  const ServerOptions options;
  const Handler handler;
  const base::Logger log;
  const Regex origins;
  const bool is_any_origin_allowed;
  ConnectionList connections;
  const std::shared_ptr<BodyBudget> bodies = std::make_shared<BodyBudget>(options.max_bodies_bytes);
};

// `owner` keeps the context and the io_context; a request under way holds it, so that an answer may
// come late.
std::shared_ptr<Connection> make_connection(boost::asio::ip::tcp::socket socket,
                                            ServerContext& context, std::weak_ptr<void> owner);

}  // namespace vagt::net
