// Pushover: one message per notification.
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

struct PushoverConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret user_key, token;
  std::string user_key_file, token_file;
  std::string url_base = "https://api.pushover.net/1/messages.json";
  std::string title = R"({{ template "pushover.default.title" . }})",
              message = R"({{ template "pushover.default.message" . }})",
              url = R"({{ template "pushover.default.url" . }})", url_title, device, sound,
              priority = R"({{ if eq .Status "firing" }}2{{ else }}0{{ end }})";
  Duration retry = std::chrono::minutes(1), expire = std::chrono::hours(1), ttl{0};
  bool html = false, monospace = false;
};
std::unique_ptr<Notifier> make_pushover_notifier(const PushoverConfig& config);

}  // namespace vagt::notify
