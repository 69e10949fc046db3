#include "notify/metrics.h"

namespace vagt::notify {
namespace {

Labels one(std::string_view name, std::string_view value) { return Labels::of({{name, value}}); }

constexpr std::string_view kAlerts = "alertmanager_alerts";
constexpr std::string_view kAlertsHelp = "How many alerts by state.";
constexpr std::string_view kReceived = "alertmanager_alerts_received_total";
constexpr std::string_view kReceivedHelp = "The total number of received alerts.";
constexpr std::string_view kSilences = "alertmanager_silences";
constexpr std::string_view kSilencesHelp = "How many silences by state.";

constexpr std::string_view kIntegrations[] = {
    "discord",    "email",      "exec",    "incidentio", "jira",     "matrix",
    "mattermost", "msteams",    "ntfy",    "msteamsv2",  "opsgenie", "pagerduty",
    "pushover",   "rocketchat", "slack",   "sns",        "stdout",   "telegram",
    "victorops",  "webex",      "webhook", "wechat"};
constexpr std::string_view kReasons[] = {
    "authError", "clientError", "contextCanceled", "contextDeadlineExceeded",
    "other",     "rateLimited", "serverError",     "template"};

}  // namespace

NotifyMetrics::NotifyMetrics(base::Registry* registry)
    : registry_(registry != nullptr ? *registry : own_),
      received_firing(registry_.counter(kReceived, kReceivedHelp,
                                        Labels::of({{"status", "firing"}, {"version", "v2"}}))),
      received_resolved(registry_.counter(kReceived, kReceivedHelp,
                                          Labels::of({{"status", "resolved"}, {"version", "v2"}}))),
      invalid(registry_.counter("alertmanager_alerts_invalid_total",
                                "The total number of received alerts that were invalid.",
                                one("version", "v2"))),
      alerts_active(registry_.gauge(kAlerts, kAlertsHelp, one("state", "active"))),
      alerts_suppressed(registry_.gauge(kAlerts, kAlertsHelp, one("state", "suppressed"))),
      alerts_unprocessed(registry_.gauge(kAlerts, kAlertsHelp, one("state", "unprocessed"))),
      groups(registry_.gauge("alertmanager_dispatcher_aggregation_groups",
                             "Number of active aggregation groups")),
      receivers(registry_.gauge("alertmanager_receivers", "Number of configured receivers.")),
      integrations(
          registry_.gauge("alertmanager_integrations", "Number of configured integrations.")),
      inhibition_rules(registry_.gauge("alertmanager_inhibition_rules",
                                       "Number of configured inhibition rules.")),
      silences_active(registry_.gauge(kSilences, kSilencesHelp, one("state", "active"))),
      silences_pending(registry_.gauge(kSilences, kSilencesHelp, one("state", "pending"))),
      silences_expired(registry_.gauge(kSilences, kSilencesHelp, one("state", "expired"))),
      nobody_paged(registry_.gauge("vagt_notify_nobody_paged",
                                   "1 when no receiver is configured that could page anybody.")),
      log_entries(registry_.gauge("vagt_notify_log_entries", "Entries of the notification log.")),
      recorded(registry_.counter("vagt_notify_recorded_total",
                                 "Deliveries that are on record on disk: a kill from here on "
                                 "repeats none of them.")),
      store_failures(registry_.counter("vagt_notify_store_failed_total",
                                       "Durable writes that failed and are tried again.")),
      wall_clock_jumps(registry_.counter("vagt_notify_wall_clock_jumps_total",
                                         "Jumps of the wall clock by more than a second.")) {
  for (const std::string_view integration : kIntegrations) {
    const std::string name(integration);
    registry_.counter("alertmanager_notifications_total",
                      "The total number of attempted notifications.", one("integration", name));
    registry_.counter("alertmanager_notification_requests_total",
                      "The total number of attempted notification requests.",
                      one("integration", name));
    registry_.counter("alertmanager_notification_requests_failed_total",
                      "The total number of failed notification requests.",
                      one("integration", name));
    for (const std::string_view reason : kReasons) {
      registry_.counter("alertmanager_notifications_failed_total",
                        "The total number of failed notifications.",
                        Labels::of({{"integration", name}, {"reason", reason}}));
    }
  }
  for (const char* reason :
       {"silence", "inhibition", "mute_time_interval", "active_time_interval"}) {
    suppressed(reason, 0);
  }
}

void NotifyMetrics::request(const std::string& integration) {
  registry_
      .counter("alertmanager_notification_requests_total",
               "The total number of attempted notification requests.",
               one("integration", integration))
      .add();
}

void NotifyMetrics::request_failed(const std::string& integration) {
  registry_
      .counter("alertmanager_notification_requests_failed_total",
               "The total number of failed notification requests.", one("integration", integration))
      .add();
}

void NotifyMetrics::failed(const std::string& integration, const std::string& reason) {
  registry_
      .counter("alertmanager_notifications_failed_total",
               "The total number of failed notifications.",
               Labels::of({{"integration", integration}, {"reason", reason}}))
      .add();
}

void NotifyMetrics::delivered(const std::string& integration, double seconds) {
  registry_
      .counter("alertmanager_notifications_total", "The total number of attempted notifications.",
               one("integration", integration))
      .add();
  registry_
      .histogram("alertmanager_notification_latency_seconds",
                 "The latency of notifications in seconds.", {1, 5, 10, 15, 20},
                 one("integration", integration))
      .observe(seconds);
}

void NotifyMetrics::suppressed(const std::string& reason, size_t alerts) {
  registry_
      .counter(
          "alertmanager_notifications_suppressed_total",
          "The total number of notifications suppressed for being silenced, inhibited, outside of "
          "active time intervals or within muted time intervals.",
          one("reason", reason))
      .add(static_cast<double>(alerts));
}

}  // namespace vagt::notify
