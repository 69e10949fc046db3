#include "notify/receivers/incidentio.h"

#include "notify/json_template.h"
#include "notify/receivers/webhook.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxBytes = 512u << 10;

class IncidentioNotifier final : public Notifier {
 public:
  explicit IncidentioNotifier(const IncidentioConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer&) const override {
    VAGT_TRY(std::string url, read_secret(config_.url, config_.url_file));
    VAGT_TRY(std::string token,
             read_secret(config_.alert_source_token, config_.alert_source_token_file));
    std::string body = with_version_1(webhook_json(n, n.truncated_alerts));
    if (body.size() > kMaxBytes && n.alerts.size() > 1) {
      Notification shorter = n;
      shorter.alerts.resize(1);
      body = with_version_1(webhook_json(shorter, n.truncated_alerts + n.alerts.size() - 1));
    }
    TransferRequest request = json_post(Secret(std::move(url)), std::move(body), profile_);
    auto& http = std::get<net::HttpRequest>(request.body);
    http.timeout = config_.timeout;
    if (!token.empty()) http.headers.emplace_back("Authorization", "Bearer " + token);
    return request;
  }

  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out = judge_http(reply, {429});
    if (out.result == SendResult::Sent || !reply.answered()) return out;
    const std::string message = json_member(reply.body, "message");
    const std::string errors = json_member(reply.body, "errors");
    if (message.empty() && errors.empty()) return out;
    out.detail = "unexpected status code " + std::to_string(reply.status) + ": " +
                 truncate_bytes(message + (errors.empty() ? "" : " " + errors), 512);
    return out;
  }
  size_t max_alerts() const override { return config_.max_alerts; }

 private:
  static std::string with_version_1(std::string body) {
    constexpr std::string_view kOurs = "\"version\":\"4\"";
    if (const size_t at = body.rfind(kOurs); at != std::string::npos) {
      body.replace(at, kOurs.size(), "\"version\":\"1\"");
    }
    return body;
  }

  const IncidentioConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_incidentio_notifier(const IncidentioConfig& config) {
  return std::make_unique<IncidentioNotifier>(config);
}

}  // namespace vagt::notify
