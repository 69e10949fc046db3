#include "notify/receivers/opsgenie.h"

#include "net/url.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxMessageRunes = 130;

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  size_t start = 0;
  for (size_t comma; (comma = text.find(',', start)) != std::string::npos; start = comma + 1) {
    out.push_back(text.substr(start, comma - start));
  }
  out.push_back(text.substr(start));
  return out;
}

void list_if(base::JsonWriter& w, std::string_view name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  w.key(name).begin_array();
  for (const auto& item : items) w.string(item);
  w.end_array();
}

class OpsgenieNotifier final : public Notifier {
 public:
  explicit OpsgenieNotifier(const OpsgenieConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    const std::string alias = hashed_key(n.group_key);
    if (!n.any_firing()) {
      std::string body;
      base::JsonWriter w(body);
      w.begin_object();
      member(w, "source", r.part("source", config_.source));
      w.end_object();
      return request("POST", "v2/alerts/" + alias + "/close?identifierType=alias", std::move(body),
                     r);
    }
    VAGT_TRY(std::string body, create_body(n, r, alias));
    return request("POST", "v2/alerts", std::move(body), r);
  }

  // With update_alerts an alert that exists already gets its message and description replaced.
  Result<std::optional<TransferRequest>> follow_up(
      const Notification& n, Renderer& r, std::span<const TransferReply> replies) const override {
    if (!config_.update_alerts || !n.any_firing() || replies.size() > 2) {
      return std::optional<TransferRequest>();
    }
    const bool first = replies.size() == 1;
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    if (first) {
      member_if(w, "message", message(r));
    } else {
      member_if(w, "description", r.text("description", config_.description));
    }
    w.end_object();
    VAGT_TRY(TransferRequest next,
             request("PUT",
                     "v2/alerts/" + hashed_key(n.group_key) +
                         (first ? "/message" : "/description") + "?identifierType=alias",
                     std::move(body), r));
    return std::optional<TransferRequest>(std::move(next));
  }

  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  std::string message(Renderer& r) const {
    return truncate_runes(r.text("message", config_.message), kMaxMessageRunes);
  }

  Result<TransferRequest> request(std::string method, const std::string& path, std::string body,
                                  Renderer& r) const {
    VAGT_TRY(std::string source, read_secret(config_.api_key, config_.api_key_file));
    VAGT_TRY(std::string key, r.required("api_key", source));
    TransferRequest out = json_post(Secret(config_.api_url + path), std::move(body), profile_);
    auto& http = std::get<net::HttpRequest>(out.body);
    http.method = std::move(method);
    http.headers.emplace_back("Authorization", "GenieKey " + key);
    return out;
  }

  Result<std::string> create_body(const Notification& n, Renderer& r,
                                  const std::string& alias) const {
    std::string out;
    base::JsonWriter w(out);
    w.begin_object();
    member(w, "alias", alias);
    member(w, "message", message(r));
    member_if(w, "description", r.text("description", config_.description));
    auto details = common_labels(n);
    for (const auto& [name, source] : config_.details) {
      details[name] = r.text("details." + name, source);
    }
    if (!details.empty()) {
      w.key("details").begin_object();
      for (const auto& [name, value] : details) member(w, name, value);
      w.end_object();
    }
    member(w, "source", r.part("source", config_.source));
    VAGT_CHECK_OK(responders(w, r));
    list_if(w, "tags", split_commas(r.part("tags", config_.tags)));
    member_if(w, "note", r.text("note", config_.note));
    member_if(w, "priority", r.part("priority", config_.priority));
    member_if(w, "entity", r.part("entity", config_.entity));
    list_if(w, "actions", split_commas(r.part("actions", config_.actions)));
    w.end_object();
    return out;
  }

  Status responders(base::JsonWriter& w, Renderer& r) const {
    bool open = false;
    const auto one = [&](const std::string& id, const std::string& name,
                         const std::string& username, const std::string& type) {
      if (id.empty() && name.empty() && username.empty()) return;
      if (!open) w.key("responders").begin_array();
      open = true;
      w.begin_object();
      member_if(w, "id", id);
      member_if(w, "name", name);
      member_if(w, "username", username);
      member(w, "type", type);
      w.end_object();
    };
    for (const OpsgenieResponder& responder : config_.responders) {
      VAGT_TRY(std::string id, r.required("responder id", responder.id));
      VAGT_TRY(std::string name, r.required("responder name", responder.name));
      VAGT_TRY(std::string username, r.required("responder username", responder.username));
      VAGT_TRY(std::string type, r.required("responder type", responder.type));
      if (type != "teams") {
        one(id, name, username, type);
        continue;
      }
      for (const std::string& team : split_commas(name)) one("", team, "", "team");
    }
    if (open) w.end_array();
    return {};
  }

  const OpsgenieConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_opsgenie_notifier(const OpsgenieConfig& config) {
  return std::make_unique<OpsgenieNotifier>(config);
}

}  // namespace vagt::notify
