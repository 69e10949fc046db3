#include "notify/receivers/ntfy.h"

#include "base/number_text.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxBytes = 4096;  // beyond, ntfy turns the message into an attachment

class NtfyNotifier final : public Notifier {
 public:
  explicit NtfyNotifier(const NtfyConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string topic, r.required("topic", config_.topic));
    VAGT_TRY(std::string token, read_secret(config_.token, config_.token_file));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "topic", topic);
    member(w, "title", truncate_runes(r.text("title", config_.title), 250));
    member(w, "message", truncate_bytes(r.text("message", config_.message), kMaxBytes));
    const auto priority = parse_int(r.part("priority", config_.priority));
    if (priority && *priority >= 1 && *priority <= 5) w.key("priority").integer(*priority);
    if (!config_.tags.empty()) {
      w.key("tags").begin_array();
      for (const auto& tag : config_.tags) w.string(r.part("tags", tag));
      w.end_array();
    }
    member_if(w, "click", r.part("click", config_.click));
    w.end_object();
    TransferRequest request = json_post(Secret(config_.url), std::move(body), profile_);
    if (!token.empty()) {
      std::get<net::HttpRequest>(request.body)
          .headers.emplace_back("Authorization", "Bearer " + token);
    }
    return request;
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  const NtfyConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_ntfy_notifier(const NtfyConfig& config) {
  return std::make_unique<NtfyNotifier>(config);
}

}  // namespace vagt::notify
