// The built-in Alertmanager: takes alerts, decides who is told, tells them, and remembers it
// durably.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/kv_store.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "notify/matchers.h"
#include "notify/notify_config.h"
#include "notify/silence.h"
#include "notify/transfer.h"
#include "notify/views.h"

namespace vagt::notify {

class NotifyManager final : public AlertSink {
 public:
  struct Options {
    // All borrowed; they outlive the manager. Null kv: state lives in memory only. Null registry:
    // no metrics.
    KvStore* kv = nullptr;
    Clock* clock = nullptr;
    Transport* transport = nullptr;  // make_transport(…) over the HTTP and SMTP clients
    base::Registry* registry = nullptr;
    base::Logger log;

    std::string external_url;                               // without a trailing slash
    Duration data_retention = std::chrono::hours(120);      // --data.retention
    Duration alert_gc_interval = std::chrono::minutes(30);  // --alerts.gc-interval
    Duration start_delay{0};                                // --dispatch.start-delay
    size_t per_alertname_limit = 0;                         // --alerts.per-alertname-limit; 0: none
    SilenceLimits silence_limits;
    Duration max_backoff = std::chrono::minutes(1);  // between two attempts of one delivery
    size_t recent_deliveries = 256;                  // kept for recent_deliveries()
    uint64_t seed = 0;  // of jitter and silence ids; 0: from the system
  };

  explicit NotifyManager(Options options);
  ~NotifyManager() override;  // stops

  // Reads the durable state. Call once, before start() or step(). Corruption, Io.
  Status open();
  // Replaces the configuration; on an error the old one stays in force. Templates are read here.
  // Groups are rebuilt from the alerts, their timers and the log carry on. Any thread.
  Status apply(Config config);

  // Runs the loop on its own thread until stop(), which lets transfers under way end for at most
  // `drain`.
  void start();
  void stop(Duration drain = std::chrono::seconds(2));
  // For tests, instead of start(): does all that is due at `now`; the next instant something is
  // due.
  std::optional<Timestamp> step(Timestamp now);

  // Alerts of the rules of this process. Returns at once; any thread.
  void publish(std::span<const Alert> alerts) override;
  // Alerts posted over the API: returns once they are on disk. Not Ok: none or only the good ones
  // were taken; the message joins the complaints with "; ". Any thread.
  Status put_alerts(std::vector<PostedAlert> alerts);

  // Snapshots for the API; any thread.
  std::vector<AlertView> alerts(const AlertQuery& query);
  std::vector<GroupView> groups(const AlertQuery& query);
  std::vector<ReceiverView> receivers(std::span<const Matcher> matchers);
  std::string config_text();
  std::vector<DeliveryView> recent_deliveries();

  // Silences; changes return once they are on disk.
  std::vector<Silence> silences();  // in the API's order
  std::optional<Silence> silence(const std::string& id);
  Result<std::string> put_silence(Silence silence);  // the id; codes as SilenceStore::put
  Status expire_silence(const std::string& id);      // NotFound

  // Sends a marked test page to this receiver now and waits for the providers: one line per
  // integration in words. NotFound: no such receiver.
  struct TestOutcome {
    std::string integration;
    bool delivered = false;
    std::string detail;
  };
  Result<std::vector<TestOutcome>> send_test(const std::string& receiver, PostedAlert alert,
                                             Duration timeout);
  // The receivers these labels would go to, in order.
  std::vector<std::string> route(const Labels& labels);

  bool ready() const;  // a configuration is applied and the state is read
  // Why nobody would be paged now (no configuration, no receiver with an integration that a route
  // leads to); "" when somebody would.
  std::string nobody_paged() const;
  Timestamp started_at() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::notify
