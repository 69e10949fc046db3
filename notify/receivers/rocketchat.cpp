#include "notify/receivers/rocketchat.h"

#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

class RocketchatNotifier final : public Notifier {
 public:
  explicit RocketchatNotifier(const RocketchatConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string token, read_secret(config_.token, config_.token_file));
    VAGT_TRY(std::string token_id, read_secret(config_.token_id, config_.token_id_file));
    VAGT_TRY(std::string channel, r.required("channel", config_.channel));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member_if(w, "channel", channel);
    member_if(w, "emoji", r.part("emoji", config_.emoji));
    member_if(w, "avatar", r.part("icon_url", config_.icon_url));
    w.key("attachments").begin_array().begin_object();
    member_if(w, "title", truncate_runes(r.text("title", config_.title), 1024));
    member_if(w, "title_link", r.part("title_link", config_.title_link));
    member_if(w, "text", r.text("text", config_.text));
    member_if(w, "image_url", r.part("image_url", config_.image_url));
    member_if(w, "thumb_url", r.part("thumb_url", config_.thumb_url));
    member_if(w, "color", r.part("color", config_.color));
    lists(w, r);
    w.end_object().end_array().end_object();
    TransferRequest request =
        json_post(Secret(config_.api_url + "api/v1/chat.postMessage"), std::move(body), profile_);
    auto& headers = std::get<net::HttpRequest>(request.body).headers;
    headers.emplace_back("X-Auth-Token", token);
    headers.emplace_back("X-User-Id", token_id);
    return request;
  }

  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out = judge_http(reply);
    if (out.result == SendResult::Sent && json_member_is_false(reply.body, "success")) {
      out.result = SendResult::Reject;
      out.reason = "clientError";
      out.detail = "error response from Rocket.Chat: " + json_member(reply.body, "error");
    }
    return out;
  }

 private:
  void lists(base::JsonWriter& w, Renderer& r) const {
    if (!config_.fields.empty()) {
      w.key("fields").begin_array();
      for (const RocketchatField& field : config_.fields) {
        w.begin_object();
        member(w, "title", r.text("field title", field.title));
        member(w, "value", r.text("field value", field.value));
        w.key("short").boolean(field.short_field.value_or(config_.short_fields)).end_object();
      }
      w.end_array();
    }
    if (config_.actions.empty()) return;
    w.key("actions").begin_array();
    for (const RocketchatAction& action : config_.actions) {
      w.begin_object();
      member(w, "type", "button");
      member_if(w, "text", r.part("action text", action.text));
      member_if(w, "url", r.part("action url", action.url));
      member_if(w, "msg", r.part("action msg", action.msg));
      w.end_object();
    }
    w.end_array();
  }

  const RocketchatConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_rocketchat_notifier(const RocketchatConfig& config) {
  return std::make_unique<RocketchatNotifier>(config);
}

}  // namespace vagt::notify
