#include "notify/receivers/victorops.h"

#include "net/url.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxStateRunes = 20480;

class VictoropsNotifier final : public Notifier {
 public:
  explicit VictoropsNotifier(const VictoropsConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string key, read_secret(config_.api_key, config_.api_key_file));
    VAGT_TRY(std::string routing, r.required("routing_key", config_.routing_key));
    std::string type = r.part("message_type", config_.message_type);
    if (!n.any_firing()) {
      type = "RECOVERY";
    } else if (type != "INFO" && type != "WARNING" && type != "CRITICAL") {
      type = "CRITICAL";
    }
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "message_type", type);
    member(w, "entity_id", hashed_key(n.group_key));
    member(w, "entity_display_name", r.text("entity_display_name", config_.entity_display_name));
    member(w, "state_message",
           truncate_runes(r.text("state_message", config_.state_message), kMaxStateRunes));
    member(w, "monitoring_tool", r.part("monitoring_tool", config_.monitoring_tool));
    for (const auto& [name, source] : config_.custom_fields) {
      member(w, name, r.text("custom_fields." + name, source));
    }
    w.end_object();
    return json_post(Secret(config_.api_url + key + "/" + net::url_encode(routing)),
                     std::move(body), profile_);
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply); }

 private:
  const VictoropsConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_victorops_notifier(const VictoropsConfig& config) {
  return std::make_unique<VictoropsNotifier>(config);
}

}  // namespace vagt::notify
