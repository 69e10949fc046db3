// PagerDuty: Events API v2 (routing key) and v1 (service key).
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

struct PagerdutyLink {
  std::string href, text;
};
struct PagerdutyImage {
  std::string src, alt, href;
};
struct PagerdutyConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  Secret service_key, routing_key;
  std::string service_key_file, routing_key_file;
  std::string url = "https://events.pagerduty.com/v2/enqueue";
  std::string v1_url = "https://events.pagerduty.com/generic/2010-04-15/create_event.json";
  std::string client = R"({{ template "pagerduty.default.client" . }})",
              client_url = R"({{ template "pagerduty.default.clientURL" . }})",
              description = R"({{ template "pagerduty.default.description" .}})", severity,
              event_class, component, group, source;
  std::map<std::string, std::string> details;         // defaults included
  std::map<std::string, std::string> nested_details;  // JSON whose strings are templates
  std::vector<PagerdutyLink> links;
  std::vector<PagerdutyImage> images;
  Duration timeout{0};
};
std::unique_ptr<Notifier> make_pagerduty_notifier(const PagerdutyConfig& config);

}  // namespace vagt::notify
