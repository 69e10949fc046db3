// Webex: a markdown message to a room.
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

struct WebexConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string api_url = "https://webexapis.com/v1/messages", room_id,
              message = R"({{ template "webex.default.message" . }})";
};
std::unique_ptr<Notifier> make_webex_notifier(const WebexConfig& config);

}  // namespace vagt::notify
