#include "notify/receivers/slack.h"

#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxTitleRunes = 1024;

class SlackNotifier final : public Notifier {
 public:
  explicit SlackNotifier(const SlackConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    const bool app = uses_app();
    std::string url = app ? config_.app_url : "";
    if (!app) {
      VAGT_TRY(url, read_secret(config_.api_url, config_.api_url_file));
    }
    const auto edited = n.receiver_data.find("ts");
    const bool edit = app && config_.update_message && edited != n.receiver_data.end();
    if (edit) replace_method(url);
    VAGT_TRY(std::string body, payload(n, r, edit));
    TransferRequest request = json_post(Secret(std::move(url)), std::move(body), profile_);
    auto& http = std::get<net::HttpRequest>(request.body);
    http.timeout = config_.timeout;
    if (app) {
      VAGT_TRY(std::string token, read_secret(config_.app_token, config_.app_token_file));
      http.headers.emplace_back("Authorization", "Bearer " + token);
    }
    return request;
  }

  // Slack says what is wrong in answers of 200, as JSON or as a word other than ok.
  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out = judge_http(reply);
    if (out.result != SendResult::Sent) return out;
    const bool json =
        reply.header("Content-Type").find("application/json") != std::string_view::npos;
    if (json ? !json_member_is_false(reply.body, "ok") : reply.body == "ok") return out;
    out.result = SendResult::Reject;
    out.reason = "clientError";
    const std::string error = json ? json_member(reply.body, "error") : reply.body;
    out.detail = "error response from Slack: " + truncate_bytes(error, 256);
    return out;
  }

  std::map<std::string, std::string> receiver_data(
      const Notification& n, std::span<const TransferReply> replies) const override {
    auto data = n.receiver_data;
    if (!uses_app() || replies.empty()) return data;
    for (const char* name : {"ts", "channel"}) {
      if (std::string value = json_member(replies.back().body, name); !value.empty()) {
        data[name] = std::move(value);
      }
    }
    return data;
  }

 private:
  bool uses_app() const { return !config_.app_token.empty() || !config_.app_token_file.empty(); }

  static void replace_method(std::string& url) {
    constexpr std::string_view kPost = "chat.postMessage";
    if (const size_t at = url.rfind(kPost); at != std::string::npos) {
      url.replace(at, kPost.size(), "chat.update");
    }
  }

  Result<std::string> payload(const Notification& n, Renderer& r, bool edit) const {
    std::string channel;
    if (edit && n.receiver_data.contains("channel")) {
      channel = n.receiver_data.at("channel");
    } else {
      VAGT_TRY(channel, r.required("channel", config_.channel));
    }
    std::string out;
    base::JsonWriter w(out);
    w.begin_object();
    member_if(w, "channel", channel);
    member_if(w, "username", r.part("username", config_.username));
    member_if(w, "icon_emoji", r.part("icon_emoji", config_.icon_emoji));
    member_if(w, "icon_url", r.part("icon_url", config_.icon_url));
    if (config_.link_names) w.key("link_names").boolean(true);
    if (edit) member(w, "ts", n.receiver_data.at("ts"));
    member_if(w, "text", r.text("message_text", config_.message_text));
    w.key("attachments").begin_array();
    attachment(w, r);
    w.end_array().end_object();
    return out;
  }

  void attachment(base::JsonWriter& w, Renderer& r) const {
    w.begin_object();
    member_if(w, "title", truncate_runes(r.text("title", config_.title), kMaxTitleRunes));
    member_if(w, "title_link", r.part("title_link", config_.title_link));
    member_if(w, "pretext", r.text("pretext", config_.pretext));
    member(w, "text", r.text("text", config_.text));
    member(w, "fallback", r.part("fallback", config_.fallback));
    member(w, "callback_id", r.part("callback_id", config_.callback_id));
    fields(w, r);
    actions(w, r);
    member_if(w, "image_url", r.part("image_url", config_.image_url));
    member_if(w, "thumb_url", r.part("thumb_url", config_.thumb_url));
    member(w, "footer", r.part("footer", config_.footer));
    member_if(w, "color", r.part("color", config_.color));
    w.key("mrkdwn_in").begin_array();
    const std::vector<std::string> usual = {"fallback", "pretext", "text"};
    for (const auto& name : config_.mrkdwn_in.empty() ? usual : config_.mrkdwn_in) w.string(name);
    w.end_array().end_object();
  }

  void fields(base::JsonWriter& w, Renderer& r) const {
    if (config_.fields.empty()) return;
    w.key("fields").begin_array();
    for (const SlackField& field : config_.fields) {
      w.begin_object();
      member_if(w, "title", r.text("field title", field.title));
      member_if(w, "value", r.text("field value", field.value));
      w.key("short").boolean(field.short_field.value_or(config_.short_fields)).end_object();
    }
    w.end_array();
  }

  void actions(base::JsonWriter& w, Renderer& r) const {
    if (config_.actions.empty()) return;
    w.key("actions").begin_array();
    for (const SlackAction& action : config_.actions) {
      w.begin_object();
      member(w, "type", r.part("action type", action.type));
      member(w, "text", r.part("action text", action.text));
      member_if(w, "url", r.part("action url", action.url));
      member_if(w, "style", r.part("action style", action.style));
      member_if(w, "name", r.part("action name", action.name));
      member_if(w, "value", r.part("action value", action.value));
      if (action.confirm) {
        w.key("confirm").begin_object();
        member(w, "text", r.part("confirm text", action.confirm->text));
        member_if(w, "title", r.part("confirm title", action.confirm->title));
        member_if(w, "ok_text", r.part("confirm ok_text", action.confirm->ok_text));
        member_if(w, "dismiss_text", r.part("confirm dismiss_text", action.confirm->dismiss_text));
        w.end_object();
      }
      w.end_object();
    }
    w.end_array();
  }

  const SlackConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_slack_notifier(const SlackConfig& config) {
  return std::make_unique<SlackNotifier>(config);
}

}  // namespace vagt::notify
