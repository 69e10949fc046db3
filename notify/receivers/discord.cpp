#include "notify/receivers/discord.h"

#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

class DiscordNotifier final : public Notifier {
 public:
  explicit DiscordNotifier(const DiscordConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string url, read_secret(config_.webhook_url, config_.webhook_url_file));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "content", truncate_runes(r.part("content", config_.content), 2000));
    w.key("embeds").begin_array().begin_object();
    member(w, "title", truncate_runes(r.text("title", config_.title), 256));
    member(w, "description", truncate_runes(r.text("message", config_.message), 4096));
    w.key("color").integer(n.alerts.empty() ? 9807270 : n.any_firing() ? 10038562 : 3066993);
    w.end_object().end_array();
    member_if(w, "username", r.part("username", config_.username));
    member_if(w, "avatar_url", r.part("avatar_url", config_.avatar_url));
    w.end_object();
    return json_post(Secret(std::move(url)), std::move(body), profile_);
  }
  // Discord limits by the second and says for how long: worth another try.
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  const DiscordConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_discord_notifier(const DiscordConfig& config) {
  return std::make_unique<DiscordNotifier>(config);
}

}  // namespace vagt::notify
