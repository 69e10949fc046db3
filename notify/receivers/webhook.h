// The generic webhook: Alertmanager JSON version 4, or a templated payload.
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

struct WebhookConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret url;  // a template
  std::string url_file;
  uint64_t max_alerts = 0;
  Duration timeout{0};
  std::string payload;  // JSON whose string values are templates; "" sends version 4
};
std::unique_ptr<Notifier> make_webhook_notifier(const WebhookConfig& config);

// The version 4 body as incident.io takes it too; `omitted` alerts were cut.
std::string webhook_json(const Notification& n, size_t omitted);

}  // namespace vagt::notify
