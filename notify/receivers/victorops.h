// VictorOps (Splunk On-Call): the REST endpoint.
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

struct VictoropsConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret api_key;
  std::string api_key_file, api_url;  // with a trailing slash
  std::string routing_key,
      message_type = "CRITICAL",
      state_message = R"({{ template "victorops.default.state_message" . }})",
      entity_display_name = R"({{ template "victorops.default.entity_display_name" . }})",
      monitoring_tool = R"({{ template "victorops.default.monitoring_tool" . }})";
  std::map<std::string, std::string> custom_fields;
};
std::unique_ptr<Notifier> make_victorops_notifier(const VictoropsConfig& config);

}  // namespace vagt::notify
