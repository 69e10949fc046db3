#include "notify/receivers/msteams.h"

#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

class MsteamsNotifier final : public Notifier {
 public:
  explicit MsteamsNotifier(const MsteamsConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string url, read_secret(config_.webhook_url, config_.webhook_url_file));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "@context", "http://schema.org/extensions");
    member(w, "@type", "MessageCard");  // as Microsoft documents it
    member(w, "type", "MessageCard");   // as Alertmanager sends it
    member(w, "title", r.text("title", config_.title));
    member(w, "summary", r.text("summary", config_.summary));
    member(w, "text", r.text("text", config_.text));
    member(w, "themeColor", n.alerts.empty() ? "808080" : n.any_firing() ? "8C1A1A" : "2DC72D");
    w.end_object();
    return json_post(Secret(std::move(url)), std::move(body), profile_);
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  const MsteamsConfig config_;
  const net::HttpClient::Profile profile_;
};

class MsteamsV2Notifier final : public Notifier {
 public:
  explicit MsteamsV2Notifier(const MsteamsV2Config& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string url, read_secret(config_.webhook_url, config_.webhook_url_file));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "type", "message");
    w.key("attachments").begin_array().begin_object();
    member(w, "contentType", "application/vnd.microsoft.card.adaptive");
    w.key("contentUrl").null();
    w.key("content").begin_object();
    member(w, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    member(w, "type", "AdaptiveCard");
    member(w, "version", "1.2");
    w.key("body").begin_array();
    title(w, n, r);
    w.begin_object();
    member(w, "type", "TextBlock");
    member(w, "text", r.text("text", config_.text));
    w.key("wrap").boolean(true).end_object();
    w.end_array();
    w.key("msteams").begin_object();
    member(w, "width", "full");
    w.end_object().end_object().end_object().end_array().end_object();
    return json_post(Secret(std::move(url)), std::move(body), profile_);
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  void title(base::JsonWriter& w, const Notification& n, Renderer& r) const {
    w.begin_object();
    member(w, "type", "TextBlock");
    member(w, "text", r.text("title", config_.title));
    member(w, "weight", "Bolder");
    member(w, "size", "Medium");
    w.key("wrap").boolean(true);
    member(w, "style", "heading");
    member(w, "color", n.alerts.empty() ? "Warning" : n.any_firing() ? "Attention" : "Good");
    w.end_object();
  }

  const MsteamsV2Config config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_msteams_notifier(const MsteamsConfig& config) {
  return std::make_unique<MsteamsNotifier>(config);
}
std::unique_ptr<Notifier> make_msteams_v2_notifier(const MsteamsV2Config& config) {
  return std::make_unique<MsteamsV2Notifier>(config);
}

}  // namespace vagt::notify
