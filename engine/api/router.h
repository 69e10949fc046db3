// Which function answers which path, and on which threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/worker_pool.h"
#include "net/http_server.h"

namespace vagt::engine::api {

using PathArgs = std::vector<std::string>;  // the values of {…}, in order
using Endpoint = std::function<net::ServerResponse(const net::ServerRequest&, const PathArgs&)>;

// Inline answers on the I/O thread what costs nothing: health and readiness wait for nobody.
// Control answers alerts, silences and status and is never queued behind queries. Reload is for the
// one request that may take long and must keep nobody else waiting.
// Slow runs what takes minutes, one at a time and behind everything else.
// Alerts takes posted alerts in, Lists answers with many of them: both may be long and neither
// waits behind queries.
enum class Lane : uint8_t { Inline, Control, Query, Reload, Alerts, Lists, Slow };

class Router {
 public:
  // The pools must outlive the router. `prefix` ("/prom", or "") stands before every path; the
  // bare address leads there.
  Router(base::WorkerPool& control, base::WorkerPool& query, base::WorkerPool& reload,
         std::string prefix = "")
      : control_(control), query_(query), reload_(reload), prefix_(std::move(prefix)) {}

  // A pool of its own for Alerts and Lists, which are Control's without one, and for Slow, which is
  // Query's. It must outlive the router. Before the first request.
  void give(Lane lane, base::WorkerPool& pool) {
    (lane == Lane::Alerts ? alerts_ : lane == Lane::Lists ? lists_ : slow_) = &pool;
  }

  // `pattern`: "/api/v1/label/{name}/values"; {…} takes one path segment, a last {path...} the
  // rest.
  void add(std::initializer_list<std::string_view> methods, std::string_view pattern, Lane lane,
           Endpoint endpoint);
  void get(std::string_view pattern, Lane lane, Endpoint endpoint) {
    add({"GET"}, pattern, lane, std::move(endpoint));
  }
  void get_or_post(std::string_view pattern, Lane lane, Endpoint endpoint) {
    add({"GET", "POST"}, pattern, lane, std::move(endpoint));
  }

  // 404, 405 and OPTIONS are answered here; everything else by its endpoint on its lane. Any
  // thread.
  void handle(std::shared_ptr<const net::ServerRequest> request, net::Respond respond) const;

 private:
  struct Route {
    std::vector<std::string> methods;
    std::vector<std::string> segments;  // "{}" takes one, "{...}" the rest
    Lane lane;
    Endpoint endpoint;
  };
  static bool matches(const Route& route, const std::vector<std::string_view>& segments,
                      PathArgs& args);
  base::WorkerPool& pool(Lane lane) const {
    switch (lane) {
      case Lane::Query:
        return query_;
      case Lane::Reload:
        return reload_;
      case Lane::Alerts:
        return alerts_ != nullptr ? *alerts_ : control_;
      case Lane::Lists:
        return lists_ != nullptr ? *lists_ : control_;
      case Lane::Slow:
        return slow_ != nullptr ? *slow_ : query_;
      case Lane::Inline:
      case Lane::Control:
        break;
    }
    return control_;
  }

  base::WorkerPool& control_;
  base::WorkerPool& query_;
  base::WorkerPool& reload_;
  base::WorkerPool* alerts_ = nullptr;
  base::WorkerPool* lists_ = nullptr;
  base::WorkerPool* slow_ = nullptr;
  const std::string prefix_;
  std::vector<std::shared_ptr<const Route>> routes_;  // shared with the tasks under way
};

}  // namespace vagt::engine::api
