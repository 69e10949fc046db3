// OpsGenie alerts: create, update, close.
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

struct OpsgenieResponder {
  std::string id, name, username, type;
};
struct OpsgenieConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret api_key;
  std::string api_key_file, api_url;  // with a trailing slash
  std::string message = R"({{ template "opsgenie.default.message" . }})",
              description = R"({{ template "opsgenie.default.description" . }})",
              source = R"({{ template "opsgenie.default.source" . }})", tags, note, priority,
              entity, actions;
  std::map<std::string, std::string> details;
  std::vector<OpsgenieResponder> responders;
  bool update_alerts = false;
};
std::unique_ptr<Notifier> make_opsgenie_notifier(const OpsgenieConfig& config);

}  // namespace vagt::notify
