// Microsoft Teams: connector cards, and adaptive cards of the Workflows app.
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

struct MsteamsConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret webhook_url;
  std::string webhook_url_file;
  std::string title = R"({{ template "msteams.default.title" . }})",
              summary = R"({{ template "msteams.default.summary" . }})",
              text = R"({{ template "msteams.default.text" . }})";
};
std::unique_ptr<Notifier> make_msteams_notifier(const MsteamsConfig& config);

struct MsteamsV2Config {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret webhook_url;
  std::string webhook_url_file;
  std::string title = R"({{ template "msteamsv2.default.title" . }})",
              text = R"({{ template "msteamsv2.default.text" . }})";
};
std::unique_ptr<Notifier> make_msteams_v2_notifier(const MsteamsV2Config& config);

}  // namespace vagt::notify
