// Slack: incoming webhooks and chat.postMessage with edits in place.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct SlackField {
  std::string title, value;
  std::optional<bool> short_field;
};
struct SlackConfirm {
  std::string text, title, ok_text, dismiss_text;
};
struct SlackAction {
  std::string type, text, url, style, name, value;
  std::optional<SlackConfirm> confirm;
};
struct SlackConfig {
  bool send_resolved = false;
  net::HttpClientConfig http;
  Secret api_url, app_token;
  std::string api_url_file, app_token_file, app_url;
  std::string channel, username = R"({{ template "slack.default.username" . }})",
                       color = R"({{ template "slack.default.color" . }})";
  std::string title = R"({{ template "slack.default.title" . }})",
              title_link = R"({{ template "slack.default.titlelink" . }})",
              pretext = R"({{ template "slack.default.pretext" . }})",
              text = R"({{ template "slack.default.text" . }})",
              footer = R"({{ template "slack.default.footer" . }})",
              fallback = R"({{ template "slack.default.fallback" . }})",
              callback_id = R"({{ template "slack.default.callbackid" . }})",
              icon_emoji = R"({{ template "slack.default.iconemoji" . }})",
              icon_url = R"({{ template "slack.default.iconurl" . }})", image_url, thumb_url,
              message_text;
  std::vector<SlackField> fields;
  std::vector<SlackAction> actions;
  std::vector<std::string> mrkdwn_in;  // empty: fallback, pretext, text
  bool short_fields = false, link_names = false, update_message = false;
  Duration timeout{0};
};
std::unique_ptr<Notifier> make_slack_notifier(const SlackConfig& config);

}  // namespace vagt::notify
