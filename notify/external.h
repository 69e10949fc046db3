// Alerts for the Alertmanagers that `alerting:` names: queued, batched, posted to every one of
// them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "net/http_client.h"

namespace vagt::notify {

class ExternalAlertmanagers final : public AlertSink {
 public:
  struct Endpoint {
    std::string url;  // http://host:9093/api/v2/alerts, without credentials
    net::HttpClient::Profile profile;
    Duration timeout = std::chrono::seconds(10);
    // Labels as this Alertmanager shall see them; an empty set drops the alert. Null: unchanged.
    std::function<Labels(const Labels&)> relabel;
  };
  struct Options {
    // Borrowed; null registry: no metrics.
    net::HttpClient* http = nullptr;
    Clock* clock = nullptr;
    base::Registry* registry = nullptr;
    base::Logger log;
    size_t queue_capacity =
        10'000;              // --alertmanager.notification-queue-capacity; oldest are dropped
    size_t max_batch = 256;  // --alertmanager.notification-batch-size
    bool drain_on_shutdown = true;
  };
  explicit ExternalAlertmanagers(Options options);
  ~ExternalAlertmanagers() override;  // stops

  // The endpoints discovery found; any thread, any time. `relabel` applies to every alert first
  // (external labels are the rules' business); null: unchanged.
  void set_endpoints(std::vector<Endpoint> endpoints, std::function<Labels(const Labels&)> relabel);
  std::vector<std::string> urls() const;  // for /api/v1/alertmanagers

  void publish(std::span<const Alert> alerts) override;  // returns at once; any thread
  void start();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::notify
