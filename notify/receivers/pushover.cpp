#include "notify/receivers/pushover.h"

#include "net/url.h"

namespace vagt::notify {
namespace {

std::string trimmed(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

std::string seconds_text(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

class PushoverNotifier final : public Notifier {
 public:
  explicit PushoverNotifier(const PushoverConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    VAGT_TRY(std::string token, read_secret(config_.token, config_.token_file));
    VAGT_TRY(std::string user, read_secret(config_.user_key, config_.user_key_file));
    VAGT_TRY(token, r.required("token", token));
    VAGT_TRY(user, r.required("user_key", user));
    VAGT_TRY(std::string priority, r.required("priority", config_.priority));
    std::string message =
        config_.html ? r.html("message", config_.message) : r.text("message", config_.message);
    message = trimmed(truncate_runes(message, 1024));
    std::string query;
    const auto add = [&](std::string_view name, std::string_view value) {
      query.append(query.empty() ? "?" : "&")
          .append(name)
          .append("=")
          .append(net::url_encode(value));
    };
    add("token", token);
    add("user", user);
    add("title", truncate_runes(r.text("title", config_.title), 250));
    if (config_.html) add("html", "1");
    if (config_.monospace) add("monospace", "1");
    add("message", message.empty() ? "(no details)" : message);
    add("url", truncate_runes(r.part("url", config_.url), 512));
    add("url_title", r.part("url_title", config_.url_title));
    add("priority", priority);
    add("retry", seconds_text(config_.retry));
    add("expire", seconds_text(config_.expire));
    if (const auto device = r.part("device", config_.device); !device.empty())
      add("device", device);
    add("sound", r.part("sound", config_.sound));
    if (config_.ttl.count() > 0) add("ttl", seconds_text(config_.ttl));
    TransferRequest request = json_post(Secret(config_.url_base + query), "", profile_);
    std::get<net::HttpRequest>(request.body).headers = {{"Content-Type", "text/plain"}};
    return request;
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply); }

 private:
  const PushoverConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_pushover_notifier(const PushoverConfig& config) {
  return std::make_unique<PushoverNotifier>(config);
}

}  // namespace vagt::notify
