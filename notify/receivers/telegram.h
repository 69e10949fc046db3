// Telegram: sendMessage of a bot.
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

struct TelegramConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string api_url = "https://api.telegram.org", bot_token_file, chat_id_file;
  Secret bot_token;
  int64_t chat_id = 0, message_thread_id = 0;
  std::string message = R"({{ template "telegram.default.message" . }})", parse_mode = "HTML";
  bool disable_notifications = false;
};
std::unique_ptr<Notifier> make_telegram_notifier(const TelegramConfig& config);

}  // namespace vagt::notify
