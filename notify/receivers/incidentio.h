// incident.io: the alert source endpoint.
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

struct IncidentioConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret url, alert_source_token;
  std::string url_file, alert_source_token_file;
  uint64_t max_alerts = 0;
  Duration timeout{0};
};
std::unique_ptr<Notifier> make_incidentio_notifier(const IncidentioConfig& config);

}  // namespace vagt::notify
