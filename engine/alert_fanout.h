// Takes alerts from the rules to everyone who delivers them: the built-in Alertmanager and those
// named in `alerting:`.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/alert.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "config/prometheus_config.h"
#include "net/http_client.h"
#include "notify/external.h"
#include "scrape/discovery/target_directory.h"
#include "scrape/relabel.h"

namespace vagt::engine {

class AlertFanout final : public AlertSink {
 public:
  struct Options {
    std::string user_agent = "vagt";
    base::Logger log;
    // On a thread of discovery or of apply(): how many Alertmanagers there are now. May be null.
    std::function<void(size_t)> counted;
    scrape::DiscoveryPlanner planner;  // null: the real sources
  };
  // `external` and `registry` outlive it.
  AlertFanout(Options options, notify::ExternalAlertmanagers& external, base::Registry& registry);

  // alert_relabel_configs and the Alertmanagers of a configuration. External labels are on the
  // alerts already: the rules put them there.
  // InvalidArgument: a relabelling that does not compile, a static address that is none.
  struct Settings;
  static Result<std::shared_ptr<const Settings>> prepare(const config::PrometheusConfig& config);
  // `builtin` is null when there is no built-in Alertmanager. Sources of discovery that stay run
  // on; what the others found is forgotten.
  void apply(std::shared_ptr<const Settings> settings, AlertSink* builtin);

  void publish(std::span<const Alert> alerts) override;
  // Whether Alertmanagers are looked for that are not written down.
  static bool has_discovery(const Settings& settings);

 private:
  void find_endpoints() VAGT_EXCLUDES(finding_, mutex_);

  const Options options_;
  notify::ExternalAlertmanagers& external_;
  base::Mutex finding_;  // one at a time, so that the last word is the newest
  size_t last_count_ VAGT_GUARDED_BY(finding_) = 0;
  base::Mutex mutex_;
  AlertSink* builtin_ VAGT_GUARDED_BY(mutex_) = nullptr;
  std::shared_ptr<const Settings> settings_ VAGT_GUARDED_BY(mutex_);
  scrape::TargetDirectory directory_;  // last: its threads call find_endpoints()
};

struct AlertFanout::Settings {
  // One `alertmanagers:` section.
  struct Section {
    config::AlertmanagerTarget config;
    scrape::Relabeler relabel;
    std::shared_ptr<const scrape::Relabeler> alert_relabel;
    net::HttpClient::Profile profile;
  };
  scrape::Relabeler relabel;
  std::vector<Section> sections;
};

}  // namespace vagt::engine
