// Rocket.Chat: chat.postMessage.
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

struct RocketchatField {
  std::string title, value;
  std::optional<bool> short_field;
};
struct RocketchatAction {
  std::string type, text, url, msg;
};
struct RocketchatConfig {
  bool send_resolved = false;
  net::HttpClientConfig http;
  std::string api_url = "https://open.rocket.chat/", token_file, token_id_file, channel;
  Secret token, token_id;
  std::string color = R"({{ if eq .Status "firing" }}red{{ else }}green{{ end }})",
              title = R"({{ template "rocketchat.default.title" . }})",
              title_link = R"({{ template "rocketchat.default.titlelink" . }})",
              text = R"({{ template "rocketchat.default.text" . }})",
              emoji = R"({{ template "rocketchat.default.emoji" . }})",
              icon_url = R"({{ template "rocketchat.default.iconurl" . }})", image_url, thumb_url;
  bool short_fields = false, link_names = false;
  std::vector<RocketchatField> fields;
  std::vector<RocketchatAction> actions;
};
std::unique_ptr<Notifier> make_rocketchat_notifier(const RocketchatConfig& config);

}  // namespace vagt::notify
