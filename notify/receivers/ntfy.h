// ntfy: JSON publishing to a topic.
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

struct NtfyConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string url = "https://ntfy.sh/", topic;
  Secret token;
  std::string token_file;
  std::string title = R"({{ template "ntfy.default.title" . }})",
              message = R"({{ template "ntfy.default.message" . }})",
              priority = R"({{ if eq .Status "firing" }}4{{ else }}3{{ end }})",
              click = R"({{ .ExternalURL }})";
  std::vector<std::string> tags;
};
std::unique_ptr<Notifier> make_ntfy_notifier(const NtfyConfig& config);

}  // namespace vagt::notify
