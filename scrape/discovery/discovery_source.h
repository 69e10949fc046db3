// Sources that keep a list of targets up to date on a thread of their own, and what became of them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "scrape/discovery_config.h"

namespace vagt::scrape {

using TargetGroups = std::vector<TargetGroup>;
using TextMap = std::map<std::string, std::string>;

// Takes what a source finds. Any thread.
class DiscoverySink {
 public:
  virtual ~DiscoverySink() = default;
  // `groups` nullopt: the last ones stay. `status` not Ok: the source, or a part of it, does not
  // answer; both may be given when only a part failed.
  virtual void publish(std::optional<TargetGroups> groups, const Status& status) = 0;
};

class DiscoverySource {
 public:
  virtual ~DiscoverySource() = default;
  virtual std::string_view kind() const = 0;  // as in "dns_sd_configs"
  // Asks in rounds, each of which publishes once: a bad status is one round that failed. Others
  // tell of a state, as often as they like, and count their failures themselves.
  virtual bool is_refreshed() const { return false; }
  // Publishes to `sink` until `stop` is requested, then returns at once. Once only.
  virtual void run(std::stop_token stop, DiscoverySink& sink) = 0;
};

// A source that is asked every now and then.
class RefreshSource : public DiscoverySource {
 public:
  void run(std::stop_token stop, DiscoverySink& sink) final;
  bool is_refreshed() const final { return true; }

 protected:
  virtual Duration refresh_interval() const = 0;
  // One round of questions: publishes once. May block, but not once `stop` is requested.
  virtual void refresh(std::stop_token stop, DiscoverySink& sink) = 0;
};

// Waits; false: asked to stop.
bool wait_for(std::stop_token stop, Duration time);

// Runs one source. Destroying it stops the source and joins its thread: hold no lock that `changed`
// takes.
class DiscoveryRunner final : public DiscoverySink {
 public:
  struct State {
    std::shared_ptr<const TargetGroups> groups;  // null: nothing found yet
    std::string error;                           // "" when all is well
    uint64_t version = 0;                        // grows with every change; 0: nothing said yet
  };
  // `changed` runs on the source's thread after each change of state. `registry` outlives it.
  // `user`: "scrape" or "notify", who the targets are for; a label of the metrics.
  DiscoveryRunner(std::unique_ptr<DiscoverySource> source, std::function<void()> changed,
                  base::Registry& registry, base::Logger log, std::string_view user = "scrape");
  ~DiscoveryRunner() override;
  State state() const VAGT_EXCLUDES(mutex_);
  uint64_t version() const { return version_; }
  void publish(std::optional<TargetGroups> groups, const Status& status) override
      VAGT_EXCLUDES(mutex_);

 private:
  void tell(const Status& status, bool was_well) const;

  const std::unique_ptr<DiscoverySource> source_;
  const std::function<void()> changed_;
  const base::Logger log_;
  base::Counter &updates_, &failures_;
  mutable base::Mutex mutex_;
  State state_ VAGT_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{0};
  std::jthread thread_;  // last: uses the others
};

// Characters that no label name has become '_', as in Prometheus.
std::string sanitize_label_name(std::string_view text);
// "host:port", an IPv6 address in brackets.
std::string join_host_port(std::string_view host, uint32_t port);

}  // namespace vagt::scrape
