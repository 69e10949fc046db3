#include "notify/receivers/mattermost.h"

#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxRunes = 16383;

class MattermostNotifier final : public Notifier {
 public:
  explicit MattermostNotifier(const MattermostConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string url, read_secret(config_.webhook_url, config_.webhook_url_file));
    VAGT_TRY(std::string channel, r.required("channel", config_.channel));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member_if(w, "channel", channel);
    member_if(w, "username", r.part("username", config_.username));
    member_if(w, "text", truncate_runes(r.text("text", config_.text), kMaxRunes));
    member_if(w, "icon_url", r.part("icon_url", config_.icon_url));
    member_if(w, "icon_emoji", r.part("icon_emoji", config_.icon_emoji));
    member_if(w, "type", r.part("type", config_.type));
    if (const auto card = r.text("props.card", config_.props_card); !card.empty()) {
      w.key("props").begin_object();
      member(w, "card", card);
      w.end_object();
    }
    priority(w, r);
    attachments(w, r);
    w.end_object();
    return json_post(Secret(std::move(url)), std::move(body), profile_);
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  void priority(base::JsonWriter& w, Renderer& r) const {
    if (config_.priority.empty()) return;
    w.key("priority").begin_object();
    member(w, "priority", r.part("priority", config_.priority));
    if (config_.requested_ack) w.key("requested_ack").boolean(true);
    if (config_.persistent_notifications) w.key("persistent_notifications").boolean(true);
    w.end_object();
  }

  // Without own attachments the message would be empty by default: one with the subject.
  void attachments(base::JsonWriter& w, Renderer& r) const {
    std::vector<MattermostAttachment> list = config_.attachments;
    if (list.empty()) {
      list.emplace_back();
      list[0].fallback = R"({{ template "mattermost.default.fallback" . }})";
      list[0].color = R"({{ template "mattermost.default.color" . }})";
      list[0].title = R"({{ template "mattermost.default.title" . }})";
      list[0].title_link = R"({{ template "mattermost.default.titlelink" . }})";
    }
    w.key("attachments").begin_array();
    for (const MattermostAttachment& a : list) attachment(w, r, a);
    w.end_array();
  }

  static void attachment(base::JsonWriter& w, Renderer& r, const MattermostAttachment& a) {
    w.begin_object();
    member_if(w, "fallback", r.part("fallback", a.fallback));
    member_if(w, "color", r.part("color", a.color));
    member_if(w, "pretext", r.text("pretext", a.pretext));
    member_if(w, "text", truncate_runes(r.text("text", a.text), kMaxRunes));
    member_if(w, "author_name", r.part("author_name", a.author_name));
    member_if(w, "author_link", r.part("author_link", a.author_link));
    member_if(w, "author_icon", r.part("author_icon", a.author_icon));
    member_if(w, "title", r.text("title", a.title));
    member_if(w, "title_link", r.part("title_link", a.title_link));
    if (!a.fields.empty()) {
      w.key("fields").begin_array();
      for (const MattermostField& field : a.fields) {
        w.begin_object();
        member(w, "title", r.text("field title", field.title));
        member(w, "value", r.text("field value", field.value));
        w.key("short").boolean(field.short_field.value_or(false)).end_object();
      }
      w.end_array();
    }
    member_if(w, "thumb_url", r.part("thumb_url", a.thumb_url));
    member_if(w, "footer", r.part("footer", a.footer));
    member_if(w, "footer_icon", r.part("footer_icon", a.footer_icon));
    member_if(w, "image_url", r.part("image_url", a.image_url));
    w.end_object();
  }

  const MattermostConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_mattermost_notifier(const MattermostConfig& config) {
  return std::make_unique<MattermostNotifier>(config);
}

}  // namespace vagt::notify
