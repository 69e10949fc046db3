// The state of alerting and what happens to it, turn by turn: alerts in, groups due, deliveries
// out.
//
// One thread owns it all; the manager puts a thread, a mailbox and the durable writer around it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/kv_store.h"
#include "base/log.h"
#include "notify/delivery.h"
#include "notify/group.h"
#include "notify/notification_log.h"
#include "notify/snapshot.h"

namespace vagt::notify {

class Dispatcher {
 public:
  struct Options {
    std::string external_url;
    Duration data_retention{}, alert_gc_interval{}, start_delay{}, max_backoff{};
    size_t per_alertname_limit = 0, recent_deliveries = 256;
    SilenceLimits silence_limits;
    uint64_t seed = 1;
  };
  Dispatcher(Options options, Transport& transport, DeliveryLoop::Post post, NotifyMetrics& metrics,
             base::Logger log);

  Status load(const KvStore& kv, Timestamp now);
  void apply(std::shared_ptr<const CompiledConfig> config, Timestamp now);
  const CompiledConfig* config() const { return config_.get(); }

  // Alerts that are valid. What could not be taken for a limit is logged and counted.
  void put(std::vector<NotifyAlert> alerts, Timestamp now);
  Result<std::string> put_silence(Silence silence, Timestamp now);
  Status expire_silence(const std::string& id, Timestamp now);

  // Everything that is due at `now`. Then what is to be made durable is in batch().
  void step(Timestamp now);
  void step_deliveries(Timestamp now);  // the same without new flushes: for the way out
  std::optional<Timestamp> next_due() const;
  // Deliveries that went into batches since it was last asked.
  size_t take_recorded() { return std::exchange(recorded_, 0); }
  KvBatch take_batch() { return std::exchange(batch_, {}); }
  void shift(Duration by);  // the wall clock jumped: due times move along
  size_t transfers_under_way() const { return deliveries_.transfers(); }

  // For other threads; made anew only after a change.
  std::shared_ptr<const Snapshot> snapshot();
  std::shared_ptr<const SilenceStore> silence_snapshot();
  std::vector<DeliveryView> recent() const { return {recent_.rbegin(), recent_.rend()}; }
  bool has_receiver(const std::string& name) const {
    return config_ != nullptr && config_->receivers.contains(name);
  }
  void update_gauges(Timestamp now);
  void update_silence_gauges(Timestamp now);
  void send_test(const std::string& receiver, const NotifyAlert& alert, Timestamp now,
                 Duration timeout,
                 std::function<void(std::string integration, DeliveryResult)> done);

 private:
  struct Slot {  // an alert and where it went
    AlertPtr alert;
    RouteList routes;  // of the current configuration; null before the first
    int held_by = 0;   // groups that hold it
  };
  struct GroupRef {  // what names a group while this configuration is in force
    const Route* route;
    Labels labels;
    friend bool operator==(const GroupRef&, const GroupRef&) = default;
  };
  struct GroupRefHash {
    size_t operator()(const GroupRef& ref) const {
      return std::hash<const void*>()(ref.route) ^ ref.labels.hash();
    }
  };
  struct Flush;  // one flush of one group, under way
  struct Trouble {
    Timestamp since{};
    size_t failed = 0;  // deliveries
  };
  using Due = std::pair<Timestamp, std::string>;

  RouteList routes_of(const Labels& labels);
  void route_alert(Slot& slot, Timestamp now);
  void changed() { snapshot_.reset(); }  // what the snapshot shows
  void insert_into(const Route& route, const AlertPtr& alert, Timestamp now);
  Group& make_group(GroupRef ref, Timestamp now);
  void schedule(const Group& group);
  void save_timer(const Group& group);
  void flush(Group& group, Timestamp now);
  std::vector<AlertPtr> unsuppressed(const Group& group, std::vector<AlertPtr> alerts,
                                     Timestamp now);
  void notify(const std::shared_ptr<Flush>& flush,
              const CompiledConfig::Receiver::Integration& integration, Timestamp now);
  void record(const std::string& key, LogEntry entry);
  void remember(const Flush& flush, const CompiledConfig::Receiver::Integration& integration,
                const DeliveryResult& result, Timestamp now);
  void log_outcome(const Flush& flush, const CompiledConfig::Receiver::Integration& integration,
                   const DeliveryResult& result, Timestamp now);
  void end(const std::shared_ptr<Flush>& flush);
  void remove_group(const std::string& id);
  void release(uint64_t fingerprint);
  void collect_garbage(Timestamp now);
  bool within_limit(const NotifyAlert& alert) const;

  const Options options_;
  NotifyMetrics& metrics_;
  const base::Logger log_;
  std::shared_ptr<const CompiledConfig> config_;
  std::unordered_map<uint64_t, Slot> alerts_;
  std::map<std::vector<const Route*>, RouteList> route_lists_;  // of config_
  std::map<std::string, size_t> per_alertname_;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;
  // The same groups, found without spelling their ids: every posted alert asks.
  std::unordered_map<GroupRef, Group*, GroupRefHash> group_of_;
  std::unordered_map<std::string, GroupTimer> saved_timers_;  // of groups that do not exist (yet)
  std::unordered_map<std::string, int> under_way_;            // flushes by group id, over reloads
  std::unordered_map<std::string, LogEntry> interrupted_;     // under way when the last run ended
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // stale entries are skipped
  Inhibitor inhibitor_;
  SilenceStore silences_;
  NotificationLog log_entries_;
  size_t recorded_ = 0;
  DeliveryLoop deliveries_;
  std::deque<DeliveryView> recent_;
  // By receiver and integration: those whose last delivery failed.
  std::map<std::pair<std::string, std::string>, Trouble> troubles_;
  KvBatch batch_;
  std::shared_ptr<const Snapshot> snapshot_;  // null: something changed
  std::shared_ptr<const SilenceStore> silence_copy_;
  Timestamp now_{}, dispatch_from_{}, next_gc_{}, next_gauges_{};
  std::mt19937_64 random_;
};

}  // namespace vagt::notify
