// Takes alerts from the rules to everyone who delivers them: the built-in Alertmanager and those
// named in `alerting:`.
#pragma once

#include <memory>
#include <vector>

#include "base/alert.h"
#include "base/mutex.h"
#include "config/prometheus_config.h"
#include "net/http_client.h"
#include "notify/external.h"
#include "scrape/relabel.h"

namespace vagt::engine {

class AlertFanout final : public AlertSink {
 public:
  // Both are borrowed; `builtin` is null when there is no built-in Alertmanager.
  AlertFanout(AlertSink* builtin, notify::ExternalAlertmanagers& external)
      : builtin_(builtin), external_(external) {}

  // alert_relabel_configs and the static Alertmanagers of a configuration. External labels are on
  // the alerts already: the rules put them there.
  // InvalidArgument: a relabelling that does not compile, an address that is none.
  struct Settings;
  static Result<std::shared_ptr<const Settings>> prepare(const config::PrometheusConfig& config);
  void apply(std::shared_ptr<const Settings> settings, AlertSink* builtin);

  void publish(std::span<const Alert> alerts) override;
  static size_t external_count(const Settings& settings);

 private:
  base::Mutex mutex_;
  AlertSink* builtin_ VAGT_GUARDED_BY(mutex_);
  std::shared_ptr<const Settings> settings_ VAGT_GUARDED_BY(mutex_);
  notify::ExternalAlertmanagers& external_;
};

struct AlertFanout::Settings {
  scrape::Relabeler relabel;
  std::vector<notify::ExternalAlertmanagers::Endpoint> endpoints;
};

}  // namespace vagt::engine
