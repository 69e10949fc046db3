// The agent's HTTP side: /metrics, /metrics/COLLECTOR, /-/healthy and a plain front page.
#pragma once

#include <memory>

#include "base/worker_pool.h"
#include "net/http_server.h"
#include "node-agent/agent.h"
#include "node-agent/bmc/remote.h"

namespace vagt::agent {

class PageServer {
 public:
  // `agent` outlives the server. Unavailable: an address cannot be bound.
  static Result<std::unique_ptr<PageServer>> start(Agent& agent, const Options& options);
  ~PageServer();
  std::vector<uint16_t> ports() const;

 private:
  PageServer(Agent& agent, const Options& options);
  Status listen(std::vector<std::string> addresses, std::vector<std::string> collectors);
  net::ServerResponse release_gpus(const net::ServerRequest& request) const;
  void remote_bmc(const net::ServerRequest& request, net::Respond respond);
  void kernel_log(const net::ServerRequest& request, net::Respond respond) const;
  // `collectors`: those of a port that serves some only; empty: all.
  void handle(const std::vector<std::string>& collectors,
              std::shared_ptr<const net::ServerRequest> request, net::Respond respond);
  void scrape(const net::ServerRequest& request, Selection selection, const net::Respond& respond);

  Agent& agent_;
  base::Logger log_;
  const Clock& clock_;
  const std::shared_ptr<const KernelLogRing> kernel_lines_;
  const std::shared_ptr<GpuDirectory> gpus_;
  std::vector<std::unique_ptr<net::HttpServer>> servers_;
  std::unique_ptr<RemoteBmcs> bmcs_;  // null: none of other hosts
  base::WorkerPool scrapes_;          // one thread: collectors keep state between runs
};

}  // namespace vagt::agent
