#include "notify/receivers/jira.h"

#include <algorithm>

#include "notify/json_template.h"
#include "notify/receivers/jira_answers.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxSummaryRunes = 255, kMaxDescriptionRunes = 32767;

// Search → create or update → transitions → transition: each step looks at the answers so far.
class JiraNotifier final : public Notifier {
 public:
  explicit JiraNotifier(const JiraConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string project, r.required("project", config_.project));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "jql", query(n, project));
    w.key("maxResults").integer(2);
    w.key("fields").begin_array().string("status").end_array();
    w.end_object();
    return request("POST", is_version_3() ? "/search/jql" : "/search", std::move(body));
  }

  Result<std::optional<TransferRequest>> follow_up(
      const Notification& n, Renderer& r, std::span<const TransferReply> replies) const override {
    const std::optional<JiraIssue> issue = first_issue(replies[0].body);
    if (!issue) {
      if (replies.size() > 1 || !n.any_firing()) return std::optional<TransferRequest>();
      VAGT_TRY(std::string body, issue_body(n, r, false));
      return some(request("POST", "/issue", std::move(body)));
    }
    switch (replies.size()) {
      case 1: {
        VAGT_TRY(std::string body, issue_body(n, r, true));
        return some(request("PUT", "/issue/" + issue->key, std::move(body)));
      }
      case 2:
        if (wanted_transition(n, *issue).empty()) return std::optional<TransferRequest>();
        return some(request("GET", "/issue/" + issue->key + "/transitions", ""));
      case 3: {
        const std::string name = wanted_transition(n, *issue);
        const std::string id = transition_id(replies[2].body, name);
        if (id.empty())
          return Status::invalid("can't find transition " + name + " for issue " + issue->key);
        std::string body;
        base::JsonWriter w(body);
        w.begin_object().key("transition").begin_object();
        member(w, "id", id);
        w.end_object().end_object();
        return some(request("POST", "/issue/" + issue->key + "/transitions", std::move(body)));
      }
      default:
        return std::optional<TransferRequest>();
    }
  }

  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  static std::optional<TransferRequest> some(TransferRequest request) { return request; }

  bool is_version_3() const {
    if (config_.api_type == "cloud") return true;
    if (config_.api_type == "datacenter") return false;
    return config_.api_url.ends_with("/3") || config_.api_url.ends_with("/3/");
  }

  TransferRequest request(std::string method, const std::string& path, std::string body) const {
    std::string base = config_.api_url;
    while (base.ends_with('/')) base.pop_back();
    TransferRequest out = json_post(Secret(base + path), std::move(body), profile_);
    auto& http = std::get<net::HttpRequest>(out.body);
    http.method = std::move(method);
    http.headers.emplace_back("Accept-Language", "en");
    return out;
  }

  static std::string group_label(const Notification& n) {
    return "ALERT{" + hashed_key(n.group_key) + "}";
  }

  std::string query(const Notification& n, const std::string& project) const {
    std::string jql;
    if (!config_.wont_fix_resolution.empty()) {
      jql += "(resolution is EMPTY or resolution != \"" + config_.wont_fix_resolution + "\") and ";
    }
    if (n.any_firing() && !config_.reopen_transition.empty() &&
        config_.reopen_duration.count() > 0) {
      const auto minutes =
          std::chrono::duration_cast<std::chrono::minutes>(config_.reopen_duration).count();
      jql +=
          "(resolutiondate is EMPTY OR resolutiondate >= -" + std::to_string(minutes) + "m) and ";
    } else {
      jql += "statusCategory != Done and ";
    }
    return jql + "project=\"" + project + "\" and labels=\"" + group_label(n) +
           "\" order by status ASC,resolutiondate DESC";
  }

  std::string wanted_transition(const Notification& n, const JiraIssue& issue) const {
    if (n.any_firing()) return issue.done ? config_.reopen_transition : "";
    return issue.done ? "" : config_.resolve_transition;
  }

  Result<std::string> issue_body(const Notification& n, Renderer& r, bool update) const {
    VAGT_TRY(std::string project, r.required("project", config_.project));
    VAGT_TRY(std::string type, r.required("issue_type", config_.issue_type));
    std::string out;
    base::JsonWriter w(out);
    w.begin_object().key("fields").begin_object();
    w.key("project").begin_object();
    member(w, "key", project);
    w.end_object().key("issuetype").begin_object();
    member(w, "name", type);
    w.end_object();
    if (!update || config_.summary.update) {
      member(w, "summary",
             truncate_runes(r.text("summary", config_.summary.text), kMaxSummaryRunes));
    }
    if (!update || config_.description.update) description(w, r);
    std::vector<std::string> labels = {group_label(n)};
    for (const std::string& source : config_.labels) labels.push_back(r.part("labels", source));
    std::sort(labels.begin(), labels.end());
    w.key("labels").begin_array();
    for (const std::string& label : labels) w.string(label);
    w.end_array();
    if (const auto priority = r.part("priority", config_.priority); !priority.empty()) {
      w.key("priority").begin_object();
      member(w, "name", priority);
      w.end_object();
    }
    for (const auto& [name, source] : config_.fields) {
      VAGT_TRY(std::string value, render_json(source, "fields." + name, false, r));
      w.key(name).raw(value);
    }
    w.end_object().end_object();
    return out;
  }

  // Version 3 wants Atlassian's document format; a plain text is wrapped into one paragraph.
  void description(base::JsonWriter& w, Renderer& r) const {
    const std::string text =
        truncate_runes(r.text("description", config_.description.text), kMaxDescriptionRunes);
    w.key("description");
    if (!is_version_3()) {
      w.string(text);
    } else if (is_json_object(text)) {
      w.raw(text);
    } else {
      w.begin_object().key("type").string("doc").key("version").integer(1);
      w.key("content").begin_array().begin_object().key("type").string("paragraph");
      w.key("content").begin_array().begin_object().key("type").string("text");
      w.key("text").string(text).end_object().end_array().end_object().end_array().end_object();
    }
  }

  const JiraConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_jira_notifier(const JiraConfig& config) {
  return std::make_unique<JiraNotifier>(config);
}

}  // namespace vagt::notify
