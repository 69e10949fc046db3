// Runs all scrape jobs: one timer thread, one HTTP client, parse workers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/time.h"
#include "net/http_client.h"
#include "scrape/discovery/discovery_plan.h"
#include "scrape/scrape_config.h"
#include "scrape/target.h"
#include "tsdb/store.h"

namespace vagt::scrape {

// What a scrape needs of the network; net::HttpClient in the daemon, a script in tests.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  // Any thread; `done` runs once, on any thread, and returns at once.
  virtual void send(net::HttpRequest request, net::HttpClient::Profile profile,
                    net::HttpClient::Done done) = 0;
};
std::unique_ptr<Fetcher> make_http_fetcher(std::string user_agent);

// A scrape's samples became visible.
struct Committed {
  const Labels& target;
  Timestamp at;
  size_t samples = 0;
};

struct ScrapeManagerOptions {
  size_t workers = 2;  // parse threads
  std::string user_agent = "vagt";
  uint64_t default_body_limit = 64u << 20;  // bytes after decompression where a job sets none
  // Of the pages under way together, as received, the first MiB of each not counted; 0: no limit.
  uint64_t max_bodies_bytes = 256u << 20;
  Duration timestamp_tolerance =
      std::chrono::milliseconds(2);  // a scrape this late still carries its due time
  // How often target files are looked at for changes: where their folders cannot be watched, and
  // where they can.
  Duration discovery_poll = std::chrono::seconds(5);
  Duration watched_poll = std::chrono::seconds(30);
  // After a change is noticed, so that more of it is taken at once; and between two changes of a
  // pool that a source asks for.
  Duration discovery_settle = std::chrono::milliseconds(100);
  Duration discovery_batch = std::chrono::seconds(5);
  DiscoveryPlanner discovery;  // null: the real sources
  uint64_t offset_seed = 0;    // from host name and external labels: twins scrape apart
  std::function<void(const Committed&)> on_commit;  // on a parse worker; must be quick
};

class ScrapeManager {
 public:
  // `store`, `clock` and `registry` outlive it. `fetcher` null: HTTP.
  ScrapeManager(ScrapeManagerOptions options, tsdb::Store& store, Clock& clock,
                base::Registry& registry, base::Logger log,
                std::unique_ptr<Fetcher> fetcher = nullptr);
  ~ScrapeManager();  // stop()

  // Replaces the jobs: all are compiled first, on an error (regex, names the job) the old ones run
  // on. Targets whose labels and address stay keep phase, cache and history. Any thread.
  Status apply(std::vector<ScrapeConfig> jobs);

  void start();  // the timer thread
  // Starts no more scrapes, waits for those under way, joins. Series are not marked stale: a
  // restart goes on with them.
  void stop();

  // One turn of the timer thread: starts what is due, returns when it wants to be called again. For
  // tests; not together with start().
  std::chrono::steady_clock::time_point step();
  // Waits until no scrape and no discovery is under way. For tests and tools.
  void wait_idle();

  // Snapshots; any thread. An empty pool name means all; order: pool, then labels.
  std::vector<TargetView> active_targets(std::string_view pool = {}) const;
  std::vector<DroppedTargetView> dropped_targets(std::string_view pool = {}) const;
  std::vector<PoolView> pools() const;
  // What each relabelling rule of a pool makes of discovered labels: the set behind it, or nullopt
  // where it drops. NotFound: no such pool.
  Result<std::vector<std::pair<RelabelConfig, std::optional<Labels>>>> relabel_steps(
      std::string_view pool, const Labels& discovered) const;
  std::vector<TargetMetadata> metadata(
      const std::function<bool(const Labels& target)>& wanted) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::scrape
