#include "notify/receivers/webex.h"

#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxBytes = 7439;  // of markdown, by Webex's documentation

class WebexNotifier final : public Notifier {
 public:
  explicit WebexNotifier(const WebexConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string room, r.required("room_id", config_.room_id));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "markdown", truncate_bytes(r.text("message", config_.message), kMaxBytes));
    member(w, "roomId", room);
    w.end_object();
    return json_post(Secret(config_.api_url), std::move(body), profile_);
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  const WebexConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_webex_notifier(const WebexConfig& config) {
  return std::make_unique<WebexNotifier>(config);
}

}  // namespace vagt::notify
