// Mattermost: incoming webhooks.
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

struct MattermostField {
  std::string title, value;
  std::optional<bool> short_field;
};
struct MattermostAttachment {
  std::string fallback, color, pretext, text, author_name, author_link, author_icon, title,
      title_link, thumb_url, footer, footer_icon, image_url;
  std::vector<MattermostField> fields;
};
struct MattermostConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret webhook_url;
  std::string webhook_url_file, channel,
      username = R"({{ template "mattermost.default.username" . }})",
      text = R"({{ template "mattermost.default.text" . }})", icon_url, icon_emoji, type,
      props_card, priority;
  bool requested_ack = false, persistent_notifications = false;
  std::vector<MattermostAttachment> attachments;
};
std::unique_ptr<Notifier> make_mattermost_notifier(const MattermostConfig& config);

}  // namespace vagt::notify
