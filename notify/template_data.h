// What notification templates see: .Receiver, .Status, .Alerts, .GroupLabels and the rest, with
// Alertmanager's methods.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "notify/notification.h"
#include "template/template.h"

namespace vagt::notify {

struct TemplateData {
  using Kv = std::map<std::string, std::string>;
  struct AlertData {
    std::string status, generator_url, fingerprint;
    Kv labels, annotations;
    Timestamp starts_at = kNoTime, ends_at = kNoTime;
  };
  std::string receiver, status, external_url, notification_reason;
  std::vector<AlertData> alerts;
  Kv group_labels, common_labels, common_annotations, route_labels;

  tmpl::TemplateValue to_value() const;
};

TemplateData template_data(const Notification& n);
// The JSON of a webhook, as `template render --template.data` takes it. InvalidArgument.
Result<TemplateData> parse_template_data(std::string_view json);

}  // namespace vagt::notify
