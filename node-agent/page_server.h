// The agent's HTTP side: /metrics, /metrics/COLLECTOR, /-/healthy and a plain front page.
#pragma once

#include <memory>

#include "base/worker_pool.h"
#include "net/http_server.h"
#include "node-agent/agent.h"

namespace vagt::agent {

class PageServer {
 public:
  // `agent` outlives the server. Unavailable: an address cannot be bound.
  static Result<std::unique_ptr<PageServer>> start(Agent& agent, std::vector<std::string> listen,
                                                   base::Logger log);
  ~PageServer();
  std::vector<uint16_t> ports() const;

 private:
  PageServer(Agent& agent, base::Logger log);
  void handle(std::shared_ptr<const net::ServerRequest> request, net::Respond respond);
  void scrape(const net::ServerRequest& request, Selection selection, const net::Respond& respond);

  Agent& agent_;
  base::Logger log_;
  std::unique_ptr<net::HttpServer> server_;
  base::WorkerPool scrapes_;  // one thread: collectors keep state between runs
};

}  // namespace vagt::agent
