#include "notify/receivers/wechat.h"

#include "net/url.h"
#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr Duration kTokenLife = std::chrono::hours(2);

class WechatNotifier final : public Notifier {
 public:
  explicit WechatNotifier(const WechatConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    if (!token_.empty() && n.now < token_until_) return message(token_, r);
    VAGT_TRY(std::string secret, read_secret(config_.api_secret, config_.api_secret_file));
    VAGT_TRY(secret, r.required("api_secret", secret));
    VAGT_TRY(std::string corp, r.required("corp_id", config_.corp_id));
    token_.clear();
    net::HttpRequest request;
    request.url = Secret(config_.api_url + "gettoken?corpid=" + net::url_encode(corp) +
                         "&corpsecret=" + net::url_encode(secret));
    request.timeout = Duration(0);
    return TransferRequest{std::move(request), profile_};
  }

  Result<std::optional<TransferRequest>> follow_up(
      const Notification& n, Renderer& r, std::span<const TransferReply> replies) const override {
    if (replies.size() != 1 || !token_.empty()) return std::optional<TransferRequest>();
    token_ = json_member(replies[0].body, "access_token");
    if (token_.empty()) return Status::invalid("invalid APISecret for CorpID: " + config_.corp_id);
    token_until_ = n.now + kTokenLife;
    VAGT_TRY(TransferRequest next, message(token_, r));
    return std::optional<TransferRequest>(std::move(next));
  }

  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out = judge_http(reply);
    if (out.result != SendResult::Sent) return out;
    const std::string code = json_member(reply.body, "errcode");
    if (code.empty() || code == "0") return out;
    // The token is no longer good: the next attempt asks for a new one.
    const bool expired = code == "42001" || code == "40014";
    if (expired) token_.clear();
    out.result = expired ? SendResult::Retry : SendResult::Reject;
    out.reason = expired ? "authError" : "clientError";
    out.detail = "wechat: " + json_member(reply.body, "errmsg") + " (" + code + ")";
    return out;
  }

 private:
  Result<TransferRequest> message(const std::string& token, Renderer& r) const {
    const std::string text = r.text("message", config_.message);
    const bool markdown = config_.message_type == "markdown";
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    w.key("text").begin_object();
    member(w, "content", markdown ? "" : text);
    w.end_object();
    member_if(w, "touser", r.part("to_user", config_.to_user));
    member_if(w, "toparty", r.part("to_party", config_.to_party));
    member_if(w, "totag", r.part("to_tag", config_.to_tag));
    member_if(w, "agentid", r.part("agent_id", config_.agent_id));
    member(w, "safe", "0");
    member(w, "msgtype", config_.message_type);
    w.key("markdown").begin_object();
    member(w, "content", markdown ? text : "");
    w.end_object().end_object();
    return json_post(
        Secret(config_.api_url + "message/send?access_token=" + net::url_encode(token)),
        std::move(body), profile_);
  }

  const WechatConfig config_;
  const net::HttpClient::Profile profile_;
  // The access token is good for two hours and asking for one is limited by day. Notify thread
  // only.
  mutable std::string token_;
  mutable Timestamp token_until_{};
};

}  // namespace

std::unique_ptr<Notifier> make_wechat_notifier(const WechatConfig& config) {
  return std::make_unique<WechatNotifier>(config);
}

}  // namespace vagt::notify
