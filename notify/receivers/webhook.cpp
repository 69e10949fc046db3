#include "notify/receivers/webhook.h"

#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

void write_map(base::JsonWriter& w, std::string_view name,
               const std::map<std::string, std::string>& map) {
  w.key(name).begin_object();
  for (const auto& [key, value] : map) w.key(key).string(value);
  w.end_object();
}

void write_alert(base::JsonWriter& w, const NotificationAlert& item) {
  const NotifyAlert& alert = *item.alert;
  w.begin_object();
  member(w, "status", item.firing ? "firing" : "resolved");
  w.key("labels").labels(alert.labels);
  write_map(w, "annotations", alert.annotations);
  member(w, "startsAt", format_rfc3339(alert.starts_at));
  member(w, "endsAt", item.firing ? "0001-01-01T00:00:00Z" : format_rfc3339(alert.ends_at));
  member(w, "generatorURL", alert.generator_url);
  member(w, "fingerprint", fingerprint_text(alert.fingerprint()));
  w.end_object();
}

class WebhookNotifier final : public Notifier {
 public:
  explicit WebhookNotifier(const WebhookConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string source, read_secret(config_.url, config_.url_file));
    VAGT_TRY(std::string url, r.required("url", source));
    if (url.empty()) return Status::invalid("webhook URL is empty after templating");
    std::string body;
    if (!config_.payload.empty() && n.plain_note.empty()) {
      auto payload = render_json(config_.payload, "payload", false, r);
      // A payload that fails is replaced by the standard body: the page goes out.
      body = payload.ok() ? std::move(payload).value() : webhook_json(n, 0);
    } else {
      body = webhook_json(n, omitted(n));
    }
    TransferRequest request = json_post(Secret(std::move(url)), std::move(body), profile_);
    std::get<net::HttpRequest>(request.body).timeout = config_.timeout;
    return request;
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply); }
  size_t max_alerts() const override { return config_.max_alerts; }

 private:
  static size_t omitted(const Notification& n) { return n.truncated_alerts; }
  const WebhookConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::string webhook_json(const Notification& n, size_t omitted) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_object();
  member(w, "receiver", quote_regex(n.receiver));
  member(w, "status", n.status());
  w.key("alerts").begin_array();
  for (const NotificationAlert& item : n.alerts) write_alert(w, item);
  w.end_array();
  w.key("groupLabels").labels(n.group_labels);
  write_map(w, "commonLabels", common_labels(n));
  write_map(w, "commonAnnotations", common_annotations(n));
  member(w, "externalURL", n.external_url);
  write_map(w, "routeLabels", n.route_labels);
  member(w, "notification_reason", n.reason_text());
  member(w, "version", "4");
  member(w, "groupKey", n.group_key);
  w.key("truncatedAlerts").integer(static_cast<int64_t>(omitted));
  w.end_object();
  return out;
}

std::unique_ptr<Notifier> make_webhook_notifier(const WebhookConfig& config) {
  return std::make_unique<WebhookNotifier>(config);
}

}  // namespace vagt::notify
