// Discord: webhook embeds.
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

struct DiscordConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret webhook_url;
  std::string webhook_url_file;
  std::string title = R"({{ template "discord.default.title" . }})",
              message = R"({{ template "discord.default.message" . }})",
              content = R"({{ template "discord.default.content" . }})", username, avatar_url;
};
std::unique_ptr<Notifier> make_discord_notifier(const DiscordConfig& config);

}  // namespace vagt::notify
