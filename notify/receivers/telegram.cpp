#include "notify/receivers/telegram.h"

#include "base/number_text.h"
#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxRunes = 4096;

class TelegramNotifier final : public Notifier {
 public:
  explicit TelegramNotifier(const TelegramConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string token, read_secret(config_.bot_token, config_.bot_token_file));
    std::string chat = std::to_string(config_.chat_id);
    if (!config_.chat_id_file.empty()) {
      VAGT_TRY(chat, read_secret(Secret(), config_.chat_id_file));
    }
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "chat_id", chat);
    if (config_.message_thread_id != 0) {
      member(w, "message_thread_id", std::to_string(config_.message_thread_id));
    }
    member(w, "text", text(r));
    member_if(w, "parse_mode", config_.parse_mode);
    member(w, "disable_web_page_preview", "true");
    if (config_.disable_notifications) member(w, "disable_notification", "true");
    w.end_object();
    return json_post(Secret(config_.api_url + "/bot" + token + "/sendMessage"), std::move(body),
                     profile_);
  }

  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out = judge_http(reply, {429});
    if (out.result == SendResult::Sent && json_member_is_false(reply.body, "ok")) {
      out.result = SendResult::Reject;
      out.reason = "clientError";
      out.detail = "telegram: " + json_member(reply.body, "description");
    }
    const std::string parameters = json_member(reply.body, "parameters");
    if (const auto seconds = parse_int(json_member(parameters, "retry_after"));
        seconds && *seconds > 0 && *seconds < 86'400) {
      out.retry_after = std::chrono::seconds(*seconds);
    }
    return out;
  }

 private:
  // A cut HTML message may end inside a tag, which Telegram refuses: a notice goes out instead.
  std::string text(Renderer& r) const {
    if (config_.parse_mode != "HTML") {
      return truncate_runes(r.text("message", config_.message), kMaxRunes);
    }
    std::string html = r.html("message", config_.message);
    if (count_runes(html) <= kMaxRunes) return html;
    return "Alert notification could not be shown: message length exceeds the Telegram limit of "
           "4096 "
           "characters. Please shorten the template, or see the alerts in Alertmanager.";
  }

  const TelegramConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_telegram_notifier(const TelegramConfig& config) {
  return std::make_unique<TelegramNotifier>(config);
}

}  // namespace vagt::notify
