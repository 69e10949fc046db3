#include "notify/receivers/pagerduty.h"

#include "notify/json_template.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxSummaryRunes = 1024;
constexpr size_t kMaxEventBytes = 512'000;
constexpr std::string_view kTooLarge =
    R"({"error":"Custom details have been removed because the original event exceeds the maximum size of 512KB"})";

class PagerdutyNotifier final : public Notifier {
 public:
  explicit PagerdutyNotifier(const PagerdutyConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    const std::string details = details_json(r);
    VAGT_TRY(std::string body, event(n, r, details));
    if (body.size() > kMaxEventBytes) {
      VAGT_TRY(body, event(n, r, std::string(kTooLarge)));
    }
    VAGT_TRY(std::string url, r.required("url", version1() ? config_.v1_url : config_.url));
    TransferRequest request = json_post(Secret(std::move(url)), std::move(body), profile_);
    std::get<net::HttpRequest>(request.body).timeout = config_.timeout;
    return request;
  }

  SendOutcome judge(const TransferReply& reply) const override {
    return version1() ? judge_http(reply, {403}) : judge_http(reply, {429});
  }

 private:
  bool version1() const {
    return !config_.service_key.empty() || !config_.service_key_file.empty();
  }

  Result<std::string> event(const Notification& n, Renderer& r, const std::string& details) const {
    return version1() ? event_v1(n, r, details) : event_v2(n, r, details);
  }

  // Texts that are YAML become structure; one that fails is a plain account of the error.
  std::string details_json(Renderer& r) const {
    std::string out;
    base::JsonWriter w(out);
    w.begin_object();
    for (const auto& [name, source] : config_.details) {
      const std::string text = r.text("details." + name, source);
      w.key(name).raw(text.empty() ? "\"\"" : yaml_text_to_json(text));
    }
    for (const auto& [name, source] : config_.nested_details) {
      auto nested = render_json(source, "details." + name, true, r);
      w.key(name).raw(nested.ok() ? *nested : yaml_text_to_json(nested.error().message()));
    }
    w.end_object();
    return out;
  }

  Result<std::string> event_v1(const Notification& n, Renderer& r,
                               const std::string& details) const {
    VAGT_TRY(std::string key, read_secret(config_.service_key, config_.service_key_file));
    VAGT_TRY(key, r.required("service_key", key));
    std::string out;
    base::JsonWriter w(out);
    w.begin_object();
    member(w, "service_key", key);
    member(w, "event_type", n.any_firing() ? "trigger" : "resolve");
    member(w, "incident_key", hashed_key(n.group_key));
    member(w, "description", summary(r));
    if (n.any_firing()) {
      member_if(w, "client", r.part("client", config_.client));
      member_if(w, "client_url", r.part("client_url", config_.client_url));
    }
    w.key("details").raw(details);
    member(w, "event_action", "");
    w.key("payload").null().end_object();
    return out;
  }

  Result<std::string> event_v2(const Notification& n, Renderer& r,
                               const std::string& details) const {
    VAGT_TRY(std::string key, read_secret(config_.routing_key, config_.routing_key_file));
    VAGT_TRY(key, r.required("routing_key", key));
    std::string out;
    base::JsonWriter w(out);
    w.begin_object();
    member(w, "routing_key", key);
    member(w, "event_action", n.any_firing() ? "trigger" : "resolve");
    member(w, "dedup_key", hashed_key(n.group_key));
    member_if(w, "client", r.part("client", config_.client));
    member_if(w, "client_url", r.part("client_url", config_.client_url));
    w.key("payload").begin_object();
    member(w, "summary", summary(r));
    member(w, "source", r.part("source", config_.source.empty() ? config_.client : config_.source));
    const std::string severity =
        config_.severity.empty() ? "" : r.part("severity", config_.severity);
    member(w, "severity", severity.empty() ? "error" : severity);
    member_if(w, "class", r.part("class", config_.event_class));
    member_if(w, "component", r.part("component", config_.component));
    member_if(w, "group", r.part("group", config_.group));
    w.key("custom_details").raw(details).end_object();
    images(w, r);
    links(w, r);
    w.end_object();
    return out;
  }

  std::string summary(Renderer& r) const {
    return truncate_runes(r.text("description", config_.description), kMaxSummaryRunes);
  }

  void images(base::JsonWriter& w, Renderer& r) const {
    if (config_.images.empty()) return;
    w.key("images").begin_array();
    for (const PagerdutyImage& image : config_.images) {
      const std::string src = r.part("image src", image.src);
      if (src.empty()) continue;
      w.begin_object();
      member(w, "src", src);
      member(w, "alt", r.part("image alt", image.alt));
      member(w, "href", r.part("image href", image.href));
      w.end_object();
    }
    w.end_array();
  }

  void links(base::JsonWriter& w, Renderer& r) const {
    if (config_.links.empty()) return;
    w.key("links").begin_array();
    for (const PagerdutyLink& link : config_.links) {
      const std::string href = r.part("link href", link.href);
      if (href.empty()) continue;
      w.begin_object();
      member(w, "href", href);
      member(w, "text", r.part("link text", link.text));
      w.end_object();
    }
    w.end_array();
  }

  const PagerdutyConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_pagerduty_notifier(const PagerdutyConfig& config) {
  return std::make_unique<PagerdutyNotifier>(config);
}

}  // namespace vagt::notify
