#include "engine/self_metrics.h"

#include <string>

#include "base/version.h"

namespace vagt::engine {

SelfMetrics::SelfMetrics(base::Registry& registry, Timestamp started)
    : reload_success_(
          registry.gauge("prometheus_config_last_reload_successful",
                         "Whether the last configuration reload attempt was successful.")),
      reload_time_(registry.gauge("prometheus_config_last_reload_success_timestamp_seconds",
                                  "Timestamp of the last successful configuration reload.")),
      am_reload_success_(
          registry.gauge("alertmanager_config_last_reload_successful",
                         "Whether the last configuration reload attempt was successful.")),
      am_reload_time_(registry.gauge("alertmanager_config_last_reload_success_timestamp_seconds",
                                     "Timestamp of the last successful configuration reload.")),
      nobody_paged_(
          registry.gauge("vagt_nobody_paged",
                         "1 when no receiver is configured that an alert could reach, else 0.")),
      imported_(registry.counter("vagt_engine_samples_imported_total",
                                 "Samples stored from remote write and import requests.")),
      refused_(
          registry.counter("vagt_engine_samples_import_refused_total",
                           "Samples of remote write and import requests that the store refused.")) {
  base::register_process_metrics(registry, to_seconds(started));
  registry
      .gauge("vagt_build_info", "A metric with a constant 1 labelled by the version of vagtd.",
             Labels::of({{"version", std::string(kVersion)}}))
      .set(1);
}

void SelfMetrics::reloaded(bool success, Timestamp last_success) {
  for (base::Gauge* gauge : {&reload_success_, &am_reload_success_}) gauge->set(success ? 1 : 0);
  if (!success) return;
  for (base::Gauge* gauge : {&reload_time_, &am_reload_time_}) gauge->set(to_seconds(last_success));
}

}  // namespace vagt::engine
